"""JSON that cannot be changed any more, and still is JSON to everybody: a dict and a list without mutators."""

from __future__ import annotations

import math
from typing import NoReturn, cast

from pydantic import JsonValue

from seam.tools_def._json import LONGEST_INT, MAX_DEPTH, check_json


def _refuse(self: object, *arguments: object, **named: object) -> NoReturn:
    raise TypeError(
        "this value is part of a record and cannot be changed; make a copy: dict(value), list(value)"
    )


class FrozenDict(dict[str, JsonValue]):
    """A JSON object that refuses every change with `TypeError`."""

    __slots__ = ()

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride, reportUnannotatedClassAttribute] - each refuses

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[type[dict[str, JsonValue]], tuple[dict[str, JsonValue]]]:
        return dict, (dict(self),)


class FrozenList(list[JsonValue]):
    """A JSON array that refuses every change with `TypeError`."""

    __slots__ = ()

    __setitem__ = __delitem__ = append = clear = extend = insert = pop = remove = reverse = sort = _refuse  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride, reportUnannotatedClassAttribute] - each refuses
    __iadd__ = __imul__ = _refuse  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride, reportUnannotatedClassAttribute] - each refuses

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self

    def __reduce__(self) -> tuple[type[list[JsonValue]], tuple[list[JsonValue]]]:
        return list, (list(self),)


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


def _freeze(value: object, depth: int) -> JsonValue:
    kind = type(value)
    if kind is str or value is None or kind is bool or kind is FrozenDict or kind is FrozenList:
        return cast(JsonValue, value)
    if isinstance(value, (str, int, float)):
        return _freeze_scalar(value)
    if depth > MAX_DEPTH:
        raise _NotJson
    if isinstance(value, dict):
        return FrozenDict(
            {_key(key): _freeze(item, depth + 1) for key, item in cast("dict[object, object]", value).items()}
        )
    if isinstance(value, (list, tuple)):
        return FrozenList(_freeze(item, depth + 1) for item in cast("list[object]", value))
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
    return key if type(key) is str else str.__str__(key)


def thawed_json(value: JsonValue) -> JsonValue:
    """A copy out of plain dictionaries and lists, for code that expects to change what it is given."""
    if isinstance(value, dict):
        return {key: thawed_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [thawed_json(item) for item in value]
    return value
