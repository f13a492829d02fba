"""What every subcommand begins with: the configuration, the request, what was read."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from seam.deplint._collect import Material, collect, sort_paths
from seam.deplint.rules import BY_ID
from seam.deplint.settings import Settings, find_settings, read_settings
from seam.deplint.sources import CACHE_FOLDER, ScanCache


@dataclass(frozen=True, slots=True)
class Session:
    """One command's ground."""

    settings: Settings
    base: Path
    material: Material


def begin(options: argparse.Namespace) -> Session:
    """Read configuration and sources as the arguments say."""
    paths: list[str] = list(getattr(options, "paths", ()))
    request = sort_paths(paths)
    if options.config:
        config = Path(options.config)
        settings, base = read_settings(config, BY_ID), config.resolve().parent
    else:
        settings, base = find_settings(request.trees[0] if request.trees else Path.cwd(), BY_ID)
    trees = request.trees
    if not trees and not request.archives and not options.only_python:
        trees = (base,)
    request = replace(
        request,
        trees=trees,
        environment=_environment(options.python),
        environment_imports=options.imports,
        manifests_only=getattr(options, "manifests_only", False),
        jobs=options.jobs,
    )
    cache = ScanCache(None if options.no_cache else base / CACHE_FOLDER, settings.roots)
    material = collect(request, settings, cache)
    cache.save()
    return Session(settings, base, material)


def _environment(text: str | None) -> Path | None:
    if not text:
        return None
    return Path(sys.prefix) if text == "-" else Path(text)
