"""JSON that cannot be changed any more, and still is JSON to everybody: a dict and a list without mutators."""

from __future__ import annotations

import math
from typing import cast

from pydantic import JsonValue

from seam.tools_def._immutable import FrozenDict, FrozenList
from seam.tools_def._json import LONGEST_INT, MAX_DEPTH, check_json


def frozen_json(value: object) -> JsonValue:
    """A frozen copy of a JSON value: nobody who holds the original can change it afterwards.

    Raises:
        NotSerialisable: it holds something that JSON has not; the message names the place.
    """
    try:
        return _freeze(value, 0)
    except _NotJson:
        check_json(value)  # says where
        raise


class _NotJson(Exception):
    pass


_AS_THEY_ARE = frozenset({str, bool, type(None), FrozenDict, FrozenList})
"""Types whose values need neither a look nor a copy."""


def _freeze(value: object, depth: int) -> JsonValue:
    if type(value) in _AS_THEY_ARE:
        return cast(JsonValue, value)
    if isinstance(value, (str, int, float)):
        return _freeze_scalar(value)
    if depth > MAX_DEPTH:
        raise _NotJson
    # each result of each call passes here: most items need no call of their own
    if isinstance(value, dict):
        pairs = cast("dict[object, JsonValue]", value)
        return FrozenDict(
            {
                (key if type(key) is str else _key(key)): (
                    item if type(item) in _AS_THEY_ARE else _freeze(item, depth + 1)
                )
                for key, item in pairs.items()
            }
        )
    if isinstance(value, (list, tuple)):
        items = cast("list[JsonValue]", value)
        return FrozenList(
            [item if type(item) in _AS_THEY_ARE else _freeze(item, depth + 1) for item in items]
        )
    raise _NotJson


def _freeze_scalar(value: str | float) -> JsonValue:
    # subclasses (an enum of strings, numpy's float) become the plain value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > LONGEST_INT:
            raise _NotJson
        return int(value)
    if not math.isfinite(value):
        raise _NotJson
    return float(value)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise _NotJson
    return str.__str__(key)


def thawed_json(value: JsonValue) -> JsonValue:
    """A copy out of plain dictionaries and lists, for code that expects to change what it is given."""
    if isinstance(value, dict):
        return {key: thawed_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [thawed_json(item) for item in value]
    return value
