"""The results of the attack matrix as a page: `python table.py --root R.json --user U.json --out docs/sandbox-matrix.md`."""

from __future__ import annotations

import argparse
import json
import platform
from collections import defaultdict
from pathlib import Path

_MODES = ("read-only", "workspace-write")
_MARK = {"stopped": "·", "got through": "THROUGH", "not possible here": "-"}

Rows = list[dict[str, str]]


def page(results: dict[str, dict[str, Rows]]) -> str:
    """The page for results by user (`root`, `user`) and runtime."""
    lines = [
        "# The attack matrix",
        "",
        "Written by `tests-integration/sandbox/table.py` from a full run; do not edit. Each attempt is a small program "
        "(`seam.sandbox_def.conformance`) that ran without a sandbox first: `-` means that it fails even then on this "
        "machine and proves nothing. `·` means stopped. An attempt that gets through is allowed to do so only where the "
        "runtime names the gap.",
        "",
        f"Machine: Linux {platform.release()}, {platform.machine()}.",
        "",
        "## Summary",
        "",
        "| user | runtime | attempts | work unconfined | stopped, read-only | stopped, workspace-write | kinds that get through |",
        "|---|---|---|---|---|---|---|",
    ]
    for user, runtimes in results.items():
        for runtime, rows in runtimes.items():
            lines.append(_summary(user, runtime, rows))
    lines += [
        "",
        "## What still gets through",
        "",
        "| user | runtime | kind | attempts | gap |",
        "|---|---|---|---|---|",
    ]
    for user, runtimes in results.items():
        for runtime, rows in runtimes.items():
            lines += _through(user, runtime, rows)
    lines += ["", "## Every attempt", "", *_every(results)]
    return "\n".join(lines) + "\n"


def _summary(user: str, runtime: str, rows: Rows) -> str:
    names = {row["attempt"] for row in rows}
    possible = {row["attempt"] for row in rows if row["state"] != "not possible here"}
    stopped = [sum(row["state"] == "stopped" and row["mode"] == mode for row in rows) for mode in _MODES]
    kinds = sorted({row["kind"] for row in rows if row["state"] == "got through"})
    shown = f"{len(kinds)}: {', '.join(kinds)}" if kinds else "0"
    return f"| {user} | {runtime} | {len(names)} | {len(possible)} | {stopped[0]} | {stopped[1]} | {shown} |"


def _through(user: str, runtime: str, rows: Rows) -> list[str]:
    kinds: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        if row["state"] == "got through":
            kinds[row["kind"], row["gap"] or "NOT NAMED"].add(row["attempt"])
    return [
        f"| {user} | {runtime} | {kind} | {'; '.join(sorted(names))} | `{gap}` |"
        for (kind, gap), names in sorted(kinds.items())
    ]


def _every(results: dict[str, dict[str, Rows]]) -> list[str]:
    columns = [(user, runtime, mode) for user, by in results.items() for runtime in by for mode in _MODES]
    cells: dict[str, dict[tuple[str, str, str], str]] = defaultdict(dict)
    kinds: dict[str, str] = {}
    for user, runtimes in results.items():
        for runtime, rows in runtimes.items():
            for row in rows:
                kinds[row["attempt"]] = row["kind"]
                cells[row["attempt"]][user, runtime, row["mode"]] = _MARK[row["state"]]
    short = {"read-only": "ro", "workspace-write": "ww"}
    head = " | ".join(f"{user} {runtime} {short[mode]}" for user, runtime, mode in columns)
    lines = [f"| kind | attempt | {head} |", "|---|---|" + "---|" * len(columns)]
    for attempt, row in cells.items():
        lines.append(
            f"| {kinds[attempt]} | {attempt} | {' | '.join(row.get(column, '') for column in columns)} |"
        )
    return lines


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--user", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    results = {
        name: json.loads(path.read_text("utf-8"))
        for name, path in (("root", given.root), ("user", given.user))
    }
    given.out.write_text(page(results), "utf-8")


if __name__ == "__main__":
    main()
