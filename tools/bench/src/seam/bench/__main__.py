"""Run the benchmarks: `python -m seam.bench [subject ...] [--json FILE] [--smoke]`."""

from __future__ import annotations

import importlib
import pkgutil

import seam.bench
from seam.bench.report import Subject, run_subjects


def subjects() -> list[Subject]:
    """Every module of this package that declares a `SUBJECT`."""
    found: list[Subject] = []
    for module in sorted(pkgutil.iter_modules(seam.bench.__path__), key=lambda item: item.name):
        if module.name.startswith("_"):
            continue
        subject: object = getattr(importlib.import_module(f"seam.bench.{module.name}"), "SUBJECT", None)
        if isinstance(subject, Subject):
            found.append(subject)
    return found


if __name__ == "__main__":
    raise SystemExit(run_subjects(subjects()))
