"""Typed reading of TOML tables: every complaint names the file and the exact location of the value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast


class TableError(ValueError):
    """A value is not of the type that its place asks for."""


class Table:
    """A TOML table that knows where it stands (`[tool.x.y]`)."""

    def __init__(self, values: Mapping[str, object], location: str = "") -> None:
        self._values = values
        self.location = location

    def at(self, key: str) -> str:
        """The location of a key of this table, as a person would write it."""
        return f"{self.location}.{key}" if self.location else key

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def table(self, key: str) -> Table:
        """A table below this one; empty where it is absent."""
        value = self._values.get(key, {})
        if not isinstance(value, Mapping):
            raise TableError(f"{self.at(key)} must be a table, not {_kind(value)}")
        return Table(cast("Mapping[str, object]", value), self.at(key))

    def tables(self, key: str) -> list[Table]:
        """An array of tables; empty where it is absent."""
        value = self._values.get(key, [])
        if not isinstance(value, list):
            raise TableError(f"{self.at(key)} must be an array of tables, not {_kind(value)}")
        found: list[Table] = []
        for index, item in enumerate(cast("list[object]", value)):
            if not isinstance(item, Mapping):
                raise TableError(f"{self.at(key)}[{index}] must be a table, not {_kind(item)}")
            found.append(Table(cast("Mapping[str, object]", item), f"{self.at(key)}[{index}]"))
        return found

    def text(self, key: str, default: str = "") -> str:
        """A string."""
        value = self._values.get(key, default)
        if not isinstance(value, str):
            raise TableError(f"{self.at(key)} must be a string, not {_kind(value)}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """A boolean."""
        value = self._values.get(key, default)
        if not isinstance(value, bool):
            raise TableError(f"{self.at(key)} must be true or false, not {_kind(value)}")
        return value

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """An array of strings."""
        if key not in self._values:
            return default
        value = self._values[key]
        if not isinstance(value, list):
            raise TableError(f"{self.at(key)} must be an array of strings, not {_kind(value)}")
        for index, item in enumerate(cast("list[object]", value)):
            if not isinstance(item, str):
                raise TableError(f"{self.at(key)}[{index}] must be a string, not {_kind(item)}")
        return tuple(cast("list[str]", value))

    def array(self, key: str) -> tuple[object, ...]:
        """An array of anything; empty where it is absent."""
        value = self._values.get(key, [])
        if not isinstance(value, list):
            raise TableError(f"{self.at(key)} must be an array, not {_kind(value)}")
        return tuple(cast("list[object]", value))

    def is_texts(self, key: str) -> bool:
        """Whether the key holds an array."""
        return isinstance(self._values.get(key), list)


def _kind(value: object) -> str:
    names: dict[type, str] = {
        dict: "a table",
        list: "an array",
        str: "a string",
        bool: "a boolean",
        int: "an integer",
        float: "a float",
    }
    return names.get(type(value), type(value).__name__)
