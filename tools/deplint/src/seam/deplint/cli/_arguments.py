"""The arguments of the command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

EXIT = "exit codes: 0 clean, 1 findings, 2 could not check"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse a command line; paths may stand on both sides of options, which argparse alone does not allow below a command."""
    root = _parser()
    options, rest = root.parse_known_args(arguments)
    if rest and (any(word.startswith("-") for word in rest) or "paths" not in options):
        root.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        options.paths = [*options.paths, *rest]
    return options


def _parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(
        prog="seam-deplint",
        description="The dependency law of namespace distributions. Nothing that is checked is imported or run.",
        epilog=f"example: seam-deplint check    |    {EXIT}",
    )
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check", help="check trees, archives, an environment, deployments", epilog=EXIT
    )
    _sources(check)
    _check(check)
    baseline = commands.add_parser("baseline", help="shrink the baseline, or --create it", epilog=EXIT)
    _sources(baseline)
    baseline.add_argument(
        "--create", action="store_true", help="write what is found now; only where there is none yet"
    )
    explain = commands.add_parser(
        "explain", help="what a rule demands, with an example; without a rule: all of them"
    )
    explain.add_argument("rule", nargs="?", default="")
    why = commands.add_parser("why", help="the shortest chains from one distribution or module to another")
    why.add_argument("source", metavar="A")
    why.add_argument("target", metavar="B")
    _sources(why, positional=False)
    graph = commands.add_parser("graph", help="the distributions and what they require, coloured by role")
    graph.add_argument("--format", choices=["mermaid", "dot", "svg", "html"], default="mermaid")
    graph.add_argument("--output", metavar="FILE", help="write there instead of to standard output")
    _sources(graph)
    init = commands.add_parser("init", help="propose a configuration from what is found")
    init.add_argument("path", nargs="?", default=".", help="the workspace (default: this folder)")
    init.add_argument("--write", action="store_true", help="write seam-deplint.toml instead of printing it")
    return root


def _sources(command: argparse.ArgumentParser, *, positional: bool = True) -> None:
    if positional:
        text = "source trees, wheels, sdists, folders of them, deployment files (default: the configuration's folder)"
        command.add_argument("paths", nargs="*", help=text)
    text = (
        "an interpreter or environment whose distributions are checked too; - is the one that runs the linter"
    )
    command.add_argument("--python", metavar="PATH", help=text)
    command.add_argument(
        "--only-python", action="store_true", help="check the environment alone, no source tree"
    )
    command.add_argument(
        "--imports", action="store_true", help="read the imports of installed distributions too"
    )
    command.add_argument(
        "--config", metavar="FILE", help="pyproject.toml or seam-deplint.toml (default: nearest upwards)"
    )
    command.add_argument(
        "--no-cache", action="store_true", help="neither read nor write the cache of parsed files"
    )
    command.add_argument(
        "--jobs", type=int, default=0, metavar="N", help="processes that parse (default: all processors)"
    )


def _check(check: argparse.ArgumentParser) -> None:
    check.add_argument(
        "--manifests-only", action="store_true", help="requirements and entry points, no imports"
    )
    check.add_argument("--format", choices=["text", "json", "sarif", "github"], default="text")
    check.add_argument("--output", metavar="FILE", help="write the report there; people still get the text")
    check.add_argument(
        "--baseline", metavar="FILE", help="findings that are known (default: the configuration's)"
    )
    check.add_argument("--color", choices=["auto", "always", "never"], default="auto")
    check.add_argument("--advice", action="store_true", help="show advice in the text as well")
