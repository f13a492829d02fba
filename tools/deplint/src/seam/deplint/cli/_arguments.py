"""The arguments of the command."""

from __future__ import annotations

import argparse

EXIT = "exit codes: 0 clean, 1 findings, 2 could not check"


def parser() -> argparse.ArgumentParser:
    """The parser of `seam-deplint`."""
    root = argparse.ArgumentParser(
        prog="seam-deplint",
        description="The dependency law of namespace distributions. Nothing that is checked is imported or run.",
        epilog=f"example: seam-deplint check    |    {EXIT}",
    )
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _check(commands.add_parser("check", help="check source trees", epilog=EXIT))
    return root


def _check(check: argparse.ArgumentParser) -> None:
    check.add_argument("paths", nargs="*", help="a source tree (default: the folder of the configuration)")
    check.add_argument(
        "--config", metavar="FILE", help="pyproject.toml or seam-deplint.toml (default: the nearest upwards)"
    )
    check.add_argument("--color", choices=["auto", "always", "never"], default="auto")
    check.add_argument(
        "--no-cache", action="store_true", help="neither read nor write the cache of parsed files"
    )
    check.add_argument(
        "--manifests-only", action="store_true", help="requirements and entry points, no imports"
    )
