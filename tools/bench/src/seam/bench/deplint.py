"""seam-deplint: times on a large workspace, beside other linters, and which planted faults each of them finds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from seam.bench._deplint_rivals import RIVALS, Rival, prepare
from seam.bench._deplint_tree import large_house
from seam.bench.report import Row, Subject, compared, median, run_subjects
from seam.deplint.built import EnvironmentOptions, read_environment, read_wheel, site_folders
from seam.deplint.sources import ScanCache
from seam.deplint.testing import FAULTS, House, install, lawful_house, write_wheel

_LINES = 110_000


def measure(smoke: bool) -> Sequence[Row]:
    """Our own figures; without `smoke` also the others', and the table of faults."""
    with tempfile.TemporaryDirectory(prefix="seam-bench-") as name:
        folder = Path(name)
        lines, families, rounds = (4_000, 2, 1) if smoke else (_LINES, 16, 5)
        house = large_house(folder / "house", lines=lines, families=families)
        house.write()
        rows = [*_runs(house, rounds), *_readers(folder, rounds)]
        if not smoke:
            versions = prepare(folder / "rivals")
            rows += _beside(house, folder, rows[0].value, versions)
            rows += _faults(folder)
        return rows


def _seconds(action: Callable[[], object], rounds: int) -> float:
    samples: list[float] = []
    for _ in range(rounds):
        started = time.perf_counter()
        action()
        samples.append(time.perf_counter() - started)
    return median(samples)


def _check(house: House, *arguments: str) -> None:
    command = [sys.executable, "-m", "seam.deplint", "check", str(house.root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the large house is not clean:\n{done.stdout[-2000:]}{done.stderr}")


def _runs(house: House, rounds: int) -> list[Row]:
    size = f"{len(house.members)} distributions, {sum(_lines(member.files) for member in house.members.values()):,} lines"

    def cold() -> None:
        shutil.rmtree(house.root / ".seam-deplint-cache", ignore_errors=True)
        _check(house)

    rows: list[Row] = []
    for name, action, goal in (
        (f"whole run, cold: {size}", cold, 1000),
        ("whole run, cached", lambda: _check(house), 300),
        ("manifests only", lambda: _check(house, "--manifests-only"), 150),
    ):
        before = os.times()
        rows.append(_row(name, _seconds(action, rounds) * 1000, goal))
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        rows.append(
            Row("    processor time of it", spent / rounds * 1000, "ms")
        )  # what a busy machine does not stretch
    return rows


def _lines(files: dict[str, str]) -> int:
    return sum(text.count("\n") for text in files.values())


def _row(name: str, value: float, goal: float) -> Row:
    return Row(name, value, "ms", goal=f"<= {goal:g} ms", met=value <= goal)


def _readers(folder: Path, rounds: int) -> list[Row]:
    house = large_house(folder / "small", lines=5_000, families=7)  # 49 distributions
    roots, empty = frozenset({"seam"}), ScanCache(None, frozenset())
    wheel = write_wheel(house["seam-exec-tool"], folder / "dist")
    site = site_folders(install(house, folder / "env"))
    options = EnvironmentOptions(lambda item: item.name.startswith("seam-"), "seam.", roots=roots)
    return [
        _row(
            "one wheel",
            _seconds(lambda: read_wheel(wheel, "w", "seam.", roots, empty), rounds * 3) * 1000,
            10,
        ),
        _row(
            "an environment of 49",
            _seconds(lambda: read_environment(site, options, empty), rounds * 3) * 1000,
            100,
        ),
    ]


def _beside(house: House, folder: Path, ours: float, versions: dict[str, str]) -> list[Row]:
    rows: list[Row] = []
    for rival in RIVALS:
        started = time.perf_counter()
        outcome = rival.check(house, folder / "rivals")
        theirs = (time.perf_counter() - started) * 1000
        name = f"whole run, cold, beside {rival.name} {versions[rival.name]} (it exits {outcome.code})"
        rows.append(compared(name, ours, "ms", rival.name, theirs))
    return rows


def _faults(folder: Path) -> list[Row]:
    """For each tool the number of faults that it finds; the table itself goes to standard output."""
    found: dict[str, set[str]] = {name: set() for name in ("seam-deplint", *(rival.name for rival in RIVALS))}
    rivals = [rival for rival in RIVALS if _is_green(rival, folder)]
    for index, fault in enumerate(FAULTS):
        house = lawful_house(folder / f"fault{index}")
        fault.plant(house)
        house.write()
        if _ours(house) == [(fault.rule, fault.distribution)]:
            found["seam-deplint"].add(fault.name)
        for rival in rivals:
            if rival.check(house, folder / "rivals", fault.distribution).code != 0:
                found[rival.name].add(fault.name)
    _print(found)
    mine = len(found["seam-deplint"])
    return [
        compared("planted faults found", mine, "count", name, len(names))
        for name, names in found.items()
        if name != "seam-deplint"
    ]


def _is_green(rival: Rival, folder: Path) -> bool:
    """A tool that complains about the lawful house too tells nothing about a fault."""
    house = lawful_house(folder / f"lawful-{rival.name}")
    house.write()
    outcome = rival.check(house, folder / "rivals")
    if outcome.code != 0:
        print(f"{rival.name} is not green on the lawful house:\n{outcome.text[:1500]}")
    return outcome.code == 0


def _ours(house: House) -> list[tuple[str, str]]:
    command = [sys.executable, "-m", "seam.deplint", "check", str(house.root), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    findings = json.loads(done.stdout)["findings"]
    return [(item["rule"], item["distribution"]) for item in findings if item["severity"] != "advice"]


def _print(found: dict[str, set[str]]) -> None:
    width = max(len(fault.name) for fault in FAULTS)
    print(f"{'planted fault':<{width}}  " + "  ".join(found))
    for fault in FAULTS:
        marks = ["yes" if fault.name in names else "-" for names in found.values()]
        cells = "  ".join(f"{mark:<{len(name)}}" for mark, name in zip(marks, found, strict=True))
        print(f"{fault.name:<{width}}  {cells}")


SUBJECT = Subject("deplint", "the dependency law on a large workspace", measure)

if __name__ == "__main__":
    raise SystemExit(run_subjects([SUBJECT], ["deplint", *sys.argv[1:]]))
