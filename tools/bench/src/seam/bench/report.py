"""Rows, the table and the JSON of a benchmark, and the shape of a subject."""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        name: what was measured.
        value: the figure.
        unit: `ms`, `us`, `ns`, `MiB`, `MiB/s`, `count`, ...
        baseline: what it is compared with, or empty.
        baseline_value: the baseline's figure in the same unit and run.
        ratio: value over baseline (for throughputs too), or None without a baseline.
        goal: the figure aimed at, as text.
        met: whether the goal is met, or None where there is none.
    """

    name: str
    value: float
    unit: str
    baseline: str = ""
    baseline_value: float | None = None
    ratio: float | None = None
    goal: str = ""
    met: bool | None = None


def compared(
    name: str,
    value: float,
    unit: str,
    baseline: str,
    baseline_value: float,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Row:
    """A row with its ratio, and whether that keeps the goal."""
    ratio = value / baseline_value if baseline_value else float("inf")
    goal, met = "", None
    if at_most is not None:
        goal, met = f"<= {at_most:g} x", ratio <= at_most
    if at_least is not None:
        goal, met = f">= {at_least:g} x", ratio >= at_least
    return Row(name, value, unit, baseline, baseline_value, ratio, goal, met)


def percentile(samples: Sequence[float], part: float) -> float:
    """The value below which `part` (0 to 1) of the samples lie."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


@dataclass(frozen=True)
class Subject:
    """A benchmark: a name, a sentence, and a function from `smoke` (one short round) to rows."""

    name: str
    about: str
    measure: Callable[[bool], Sequence[Row]]


def run_subjects(subjects: Sequence[Subject], argv: Sequence[str] | None = None) -> int:
    """Measure, print the tables, write the JSON; exit code 0, or 2 for an unknown subject."""
    parser = argparse.ArgumentParser(
        prog="python -m seam.bench",
        description="Ratios against a baseline, measured in one run.",
        epilog="example: python -m seam.bench exec --json bench.json",
    )
    parser.add_argument(
        "subjects", nargs="*", help="which (default: all): " + ", ".join(s.name for s in subjects)
    )
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--smoke", action="store_true", help="one short round: proves that the benches run")
    options = parser.parse_args(argv)
    unknown = set(options.subjects) - {subject.name for subject in subjects}
    if unknown:
        print(f"no such subject: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    results: dict[str, list[dict[str, object]]] = {}
    for subject in subjects:
        if options.subjects and subject.name not in options.subjects:
            continue
        started = time.perf_counter()
        rows = subject.measure(options.smoke)
        results[subject.name] = [asdict(row) for row in rows]
        _print(subject, rows, time.perf_counter() - started)
        if options.json:
            options.json.write_text(json.dumps(_document(results), indent=2) + "\n", "utf-8")
    return 0


def _document(results: dict[str, list[dict[str, object]]]) -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "subjects": results,
    }


def _print(subject: Subject, rows: Sequence[Row], seconds: float) -> None:
    table = Table(title=f"{subject.name}: {subject.about} ({seconds:.0f} s)", title_justify="left")
    for column in ("measured", "figure", "baseline", "baseline's", "ratio", "goal", ""):
        table.add_column(column)
    for row in rows:
        table.add_row(
            row.name,
            f"{row.value:,.3g} {row.unit}",
            row.baseline,
            "" if row.baseline_value is None else f"{row.baseline_value:,.3g} {row.unit}",
            "" if row.ratio is None else f"{row.ratio:.2f}",
            row.goal,
            {True: "met", False: "[bold]missed[/bold]", None: ""}[row.met],
        )
    Console(width=150 if not sys.stdout.isatty() else None).print(table)


def median(samples: Sequence[float]) -> float:
    """The middle sample."""
    return statistics.median(samples)
