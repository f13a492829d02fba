"""Prove that an installed distribution works with its declared closure only: run as a script, with nothing of ours on the path.

It imports every module of the distribution (conformance kits excepted: they belong to an extra) and fails when a sibling is
installed that the closure does not name.
"""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import distribution, distributions
from pathlib import PurePosixPath

EXTRA_FOLDERS = ("conformance", "pytest_plugin")


def closure(name: str) -> set[str]:
    """The siblings that a distribution requires, directly and through others, itself included."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in found:
            continue
        found.add(current)
        for requirement in distribution(current).requires or []:
            sibling = requirement.split(";")[0].split(">")[0].split("<")[0].split("[")[0].strip()
            if sibling.startswith("seam-") and "extra ==" not in requirement:
                waiting.append(sibling)
    return found


def modules(name: str) -> list[str]:
    """Every importable module that the distribution's RECORD lists."""
    found: list[str] = []
    for file in distribution(name).files or []:
        path = PurePosixPath(file)
        if path.suffix != ".py" or path.parts[0] != "seam" or path.stem == "__main__":
            continue
        if any(part.removesuffix(".py") in EXTRA_FOLDERS for part in path.parts):
            continue
        parts = path.parts[:-1] if path.stem == "__init__" else (*path.parts[:-1], path.stem)
        found.append(".".join(parts))
    return found


def main(name: str) -> int:
    """Exit code 0 when alone is enough, 1 with a line for each problem."""
    installed = {
        str(d.metadata["Name"]) for d in distributions() if str(d.metadata["Name"]).startswith("seam-")
    }
    problems = [f"{extra} is installed beside the closure" for extra in sorted(installed - closure(name))]
    names = modules(name)
    if not names:
        problems.append("no module found: nothing was checked")
    for module in names:
        try:
            importlib.import_module(module)
        except ImportError as error:
            problems.append(f"import {module}: {error}")
    for problem in problems:
        print(f"{name}: {problem}")
    print(f"{name}: {len(names)} modules, closure {', '.join(sorted(closure(name)))}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this script holds other modules of the train
    raise SystemExit(main(sys.argv[1]))
