"""The command `seam-deplint`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from seam.deplint._check import judge
from seam.deplint.cli._arguments import parser
from seam.deplint.facts import SourceKind
from seam.deplint.report import render_text
from seam.deplint.rules import BY_ID, View
from seam.deplint.settings import ConfigurationError, find_settings, read_settings
from seam.deplint.sources import CACHE_FOLDER, ScanCache, TreeOptions, read_tree

CLEAN, FINDINGS, NOT_CHECKED = 0, 1, 2


class NotChecked(Exception):
    """The run cannot say anything about what it was asked to check."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns 0 clean, 1 findings, 2 could not check."""
    options = parser().parse_args(arguments)
    try:
        return _check(options)
    except (ConfigurationError, NotChecked) as problem:
        print(f"seam-deplint: {problem}", file=sys.stderr)  # noqa: T201 - this is the command line
        return NOT_CHECKED


def _check(options: argparse.Namespace) -> int:
    start = Path(options.paths[0]) if options.paths else Path.cwd()
    if not start.is_dir():
        raise NotChecked(f"{start} is not a folder")
    if options.config:
        config = Path(options.config)
        settings, base = read_settings(config, BY_ID), config.resolve().parent
    else:
        settings, base = find_settings(start, BY_ID)
    root = start.resolve() if options.paths else base
    cache = ScanCache(None if options.no_cache else root / CACHE_FOLDER, settings.roots)
    tree = TreeOptions(settings.members, settings.exclude, settings.roots, options.manifests_only)
    members, problems = read_tree(root, tree, cache)
    cache.save()
    if not members and not problems:
        raise NotChecked(f"nothing to check: no pyproject.toml with [project] below {root}")
    if not options.manifests_only and not any(item.modules for item in members):
        raise NotChecked(f"nothing to check: the distributions below {root} have no Python modules")
    report = judge([View(SourceKind.SOURCE, members, settings)], settings, problems)
    color = options.color == "always" or (
        options.color == "auto" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    )
    sys.stdout.write(render_text(report, color=color))
    return FINDINGS if report.failed else CLEAN
