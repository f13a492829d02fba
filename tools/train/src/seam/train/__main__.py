"""The command `python -m seam.train`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from seam.train._build import BuildFailed, build_all
from seam.train._stamp import check, stamp

EXAMPLE = "example: python -m seam.train check"


def main() -> int:
    """Run one action; exit code 0 clean, 1 drift or failed build."""
    parser = argparse.ArgumentParser(
        prog="python -m seam.train", description="The version train.", epilog=EXAMPLE
    )
    parser.add_argument("action", choices=["check", "stamp", "build"])
    parser.add_argument(
        "target", nargs="?", default="dist", help="build: the folder for the wheels (default: dist)"
    )
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the workspace (default: this folder)")
    options = parser.parse_args()
    if options.action == "stamp":
        for path in stamp(options.root):
            print(f"stamped {path}")
        return 0
    if options.action == "build":
        try:
            built = build_all(options.root, Path(options.target))
        except BuildFailed as problem:
            print(problem, file=sys.stderr)
            return 1
        print(f"{len(built)} files in {options.target}")
        return 0
    drifts = list(check(options.root))
    for drift in drifts:
        print(f"{drift.path}: {drift.text}")
    return 1 if drifts else 0


if __name__ == "__main__":
    raise SystemExit(main())
