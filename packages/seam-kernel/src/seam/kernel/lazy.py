"""Packages whose names are imported when they are first used.

Whoever needs one word of a definition does not pay for the whole of it: a value of pydantic costs half a millisecond when it is
made, and a definition has dozens.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping


def lazy_exports(
    package: str, rooms: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package (PEP 562); a name that was used once is bound like any other.

    Args:
        package: its `__name__`.
        rooms: where the names are: a module (of the package, where it begins with `_`), and its names in one text.
    """
    places = {
        name: f"{package}.{room}" if room.startswith("_") else room
        for room, names in rooms.items()
        for name in names.split()
    }

    def get(name: str) -> object:
        place = places.get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(importlib.import_module(place), name)
        setattr(sys.modules[package], name, value)
        return value

    def known() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    return get, known
