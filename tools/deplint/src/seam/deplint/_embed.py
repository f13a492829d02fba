"""Running the linter from Python."""

from __future__ import annotations

from pathlib import Path

from seam.deplint._baseline import read_baseline
from seam.deplint._check import Report, judge
from seam.deplint._collect import Request, collect
from seam.deplint.rules import BY_ID
from seam.deplint.settings import find_settings
from seam.deplint.sources import CACHE_FOLDER, ScanCache


def check_tree(folder: Path, *, environment: Path | None = None) -> Report:
    """Check the source tree whose configuration governs `folder`, and an environment beside it where one is named.

    Raises `ConfigurationError` where the configuration cannot be used and `NotChecked` where there is nothing to check.
    """
    settings, base = find_settings(folder, BY_ID)
    cache = ScanCache(base / CACHE_FOLDER, settings.roots)
    material = collect(Request(trees=(base,), environment=environment), settings, cache)
    cache.save()
    known = read_baseline(base / settings.baseline) if settings.baseline else {}
    return judge(material, settings, frozenset(known))
