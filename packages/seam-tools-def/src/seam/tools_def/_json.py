"""Canonical JSON: one text for one value, so that a digest means the value."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from typing import cast

from seam.tools_def._errors import NotSerialisable
from seam.tools_def._immutable import FrozenDict, FrozenList


def canonical_json(value: object) -> str:
    """The one JSON text of a value: sorted keys, no white space, ASCII only (RFC 8785 in spirit; lone surrogates survive).

    Raises:
        NotSerialisable: the value holds something that JSON has not; the message names the place.
    """
    if not _is_json(value, 0):
        check_json(value)
    return _encode(value)


_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
).encode  # made once


def validated_json(value: object) -> str:
    """As `canonical_json`, for a value whose keys are known to be strings because pydantic has validated it.

    The encoder finds everything else that JSON has not; asking twice would cost more than writing.
    """
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError):
        check_json(value)  # says where
        raise


def digest_of(value: object) -> str:
    """SHA-256 over the canonical JSON of a value, as `sha256:<hex>`."""
    return digest_of_text(canonical_json(value))


def digest_of_text(text: str) -> str:
    """SHA-256 over a canonical JSON text, as `sha256:<hex>`."""
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def check_json(value: object, place: str = "$", depth: int = 0) -> None:
    """Prove that a value is JSON (strings, finite numbers, booleans, null, lists, string-keyed objects).

    Raises:
        NotSerialisable: naming the place, in JSONPath notation.
    """
    if value is None or isinstance(value, (str, bool)):
        return
    if isinstance(value, int):
        if value.bit_length() > LONGEST_INT:
            raise NotSerialisable(f"{place} is a number of more than {LONGEST_INT} bits", place=place)
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotSerialisable(f"{place} is {value}, which JSON cannot hold", place=place)
        return
    if depth > MAX_DEPTH:
        raise NotSerialisable(f"{place} is nested deeper than {MAX_DEPTH} levels", place=place)
    if isinstance(value, dict):
        for key, item in cast("dict[object, object]", value).items():
            if not isinstance(key, str):
                raise NotSerialisable(
                    f"{place} has a key of type {type(key).__name__}; JSON keys are strings", place=place
                )
            check_json(item, f"{place}.{key}", depth + 1)
        return
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(cast("list[object]", value)):
            check_json(item, f"{place}[{index}]", depth + 1)
        return
    raise NotSerialisable(f"{place} is a {type(value).__name__}, which JSON cannot hold", place=place)


def _is_json(value: object, depth: int) -> bool:
    # the quick half of check_json: may say no to what is JSON after all, never yes to what is not. Each record of each
    # call passes here, hence no call for a string
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return True
    if kind is FrozenDict or kind is FrozenList:
        return True  # it was looked at when it was frozen
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value)
        return depth <= MAX_DEPTH and all(map(_is_text, pairs)) and _are_json(pairs.values(), depth + 1)
    if isinstance(value, (list, tuple)):
        return depth <= MAX_DEPTH and _are_json(cast("list[object]", value), depth + 1)
    if isinstance(value, int):
        return value.bit_length() <= LONGEST_INT
    return isinstance(value, float) and math.isfinite(value)


def _are_json(values: Iterable[object], depth: int) -> bool:
    for item in values:  # noqa: SIM110 - a generator costs half as much again
        if type(item) is not str and not _is_json(item, depth):
            return False
    return True


def _is_text(key: object) -> bool:
    return isinstance(key, str)


MAX_DEPTH = 100
"""Deepest nesting of a value that crosses the chain, in levels: beyond real use, and what pydantic can still read back inside a record."""

LONGEST_INT = 4096
"""Longest whole number, in bits; the interpreter refuses to print far longer ones."""
