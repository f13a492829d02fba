"""Durations in a plugin's configuration."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_WHOLE = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")


def _seconds(given: object) -> object:
    if not isinstance(given, str):
        return given
    text = given.replace(" ", "")
    if not _WHOLE.fullmatch(text):
        raise ValueError(
            f"{given!r} is not a duration; write seconds (1.5) or numbers with a unit: ms, s, m, h, d (1m30s)"
        )
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))


Seconds: TypeAlias = Annotated[float, BeforeValidator(_seconds)]
"""A configuration field in seconds that also takes text with units: `"2m"`, `"1h30m"`, `"250ms"`. A bare number in quotes is refused."""
