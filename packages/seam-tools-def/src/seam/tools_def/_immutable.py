"""A JSON object and a JSON array that refuse every change, and still are a dict and a list to everybody."""

from __future__ import annotations

from typing import NoReturn

from pydantic import JsonValue


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
