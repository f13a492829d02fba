"""The baseline: findings that were there when the law came. It can only shrink."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from seam.deplint.rules import Finding

_FORMAT = 1


class BaselineError(Exception):
    """The baseline cannot be read or would have to grow."""


def read_baseline(path: Path) -> dict[str, str]:
    """Ids with the text that a person can recognise them by."""
    try:
        loaded: object = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as problem:
        raise BaselineError(f"the baseline {path} cannot be read: {problem}") from problem
    entries = cast("dict[str, object]", loaded).get("findings") if isinstance(loaded, dict) else None
    if not isinstance(entries, dict):
        raise BaselineError(f"the baseline {path} has no table `findings`")
    return {str(key): str(text) for key, text in cast("dict[object, object]", entries).items()}


def write_baseline(path: Path, found: tuple[Finding, ...], *, create: bool) -> int:
    """Write what is still found of the baseline, or everything with `create`; returns the number of entries.

    An existing baseline is never extended: new findings are to be corrected, or ignored with a reason.
    """
    if create and path.exists():
        raise BaselineError(
            f"{path} is there already, and a baseline only shrinks; remove it by hand to begin again"
        )
    known = None if create else read_baseline(path)
    entries = {item.id: f"{item.rule}: {item.message}" for item in found if known is None or item.id in known}
    text = json.dumps({"format": _FORMAT, "findings": dict(sorted(entries.items()))}, indent=1)
    path.write_text(text + "\n", "utf-8")
    return len(entries)
