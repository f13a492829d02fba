"""Distribution names in their one comparable form."""

from __future__ import annotations

import re

_RUNS = re.compile(r"[-_.]+")


def canonical(name: str) -> str:
    """The normal form of PEP 503. The same as in `packaging.utils`, whose import costs more than reading a manifest."""
    return _RUNS.sub("-", name).lower()
