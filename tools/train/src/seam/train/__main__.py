"""The command `python -m seam.train`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from seam.train._build import BuildFailed, build_all
from seam.train._stamp import check, stamp
from seam.train._versions import interpreters, run_tests

EXAMPLE = "example: python -m seam.train check"


def main() -> int:
    """Run one action; exit code 0 clean, 1 drift or failed build."""
    parser = argparse.ArgumentParser(
        prog="python -m seam.train", description="The version train.", epilog=EXAMPLE
    )
    parser.add_argument("action", choices=["check", "stamp", "build", "versions"])
    parser.add_argument(
        "target", nargs="?", default="dist", help="build: the folder for the wheels (default: dist)"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="versions: every test, also those that take long and ask the system only",
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
    if options.action == "versions":
        return _versions(options.root, everything=options.all)
    drifts = list(check(options.root))
    for drift in drifts:
        print(f"{drift.path}: {drift.text}")
    return 1 if drifts else 0


def _versions(root: Path, *, everything: bool) -> int:
    """The tests on each further interpreter; what is not on this machine is named."""
    found = interpreters()
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="seam-versions-") as folder:
        for version, interpreter in found.items():
            print(f"Python {version} ({interpreter})", flush=True)
            if run_tests(root, version, interpreter, Path(folder), everything=everything) != 0:
                failed.append(version)
    print(
        f"tests passed on: {', '.join(version for version in found if version not in failed) or 'no further version'}"
    )
    if failed:
        print(f"tests failed on: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
