"""How long the import of a consumer takes, against the import of the libraries it stands on."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence

from seam.bench.report import Row, Subject, compared, median, run_subjects

BASELINE = "import pydantic, anyio"
MODEL = """
import anyio
import pydantic
class Model(pydantic.BaseModel):
    number: int
"""
ONE_MODEL = "the same, and one model"
NOTHING = "pass"
GOAL = 1.3
PACKAGES = ("seam.exec_tool", "seam.exec_def", "seam.tools_def", "seam.kernel")
USES = {
    "seam.exec_tool, and its plugin taken": "from seam.exec_tool import exec_tool",
    "seam.tools_def, and a tool made": "from seam.tools_def import effects, tool",
}
"""Packages import what is behind a name when it is first used: this is what a deployment, or a file with a tool, pays."""


def _seconds(program: str) -> float:
    """Seconds of a fresh interpreter, from its start to its end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return time.perf_counter() - began


def measure(smoke: bool) -> Sequence[Row]:
    """Medians of fresh interpreters in turn, each without what an interpreter that imports nothing takes."""
    rounds = 2 if smoke else 25
    programs = {
        NOTHING: NOTHING,
        BASELINE: BASELINE,
        ONE_MODEL: MODEL,
        **{name: f"import {name}" for name in PACKAGES},
        **USES,
    }
    samples: dict[str, list[float]] = {name: [] for name in programs}
    for program in programs.values():
        _seconds(program)  # the files are in the page cache, the bytecode is written
    for _ in range(rounds):
        for name, program in programs.items():
            samples[name].append(_seconds(program))
    empty = median(samples[NOTHING])
    base = (median(samples[BASELINE]) - empty) * 1e3
    # pydantic imports most of itself when it is first used: the second baseline is what every user of it pays
    used = (median(samples[ONE_MODEL]) - empty) * 1e3

    def took(name: str) -> float:
        return (median(samples[name]) - empty) * 1e3

    rows = [
        compared(
            f"import {name}", took(name), "ms", BASELINE, base, at_most=GOAL if name == PACKAGES[0] else None
        )
        for name in PACKAGES
    ]
    return rows + [compared(f"import {name}", took(name), "ms", ONE_MODEL, used) for name in USES]


SUBJECT = Subject("imports", "fresh interpreters that import a package", measure)

if __name__ == "__main__":
    raise SystemExit(run_subjects([SUBJECT]))
