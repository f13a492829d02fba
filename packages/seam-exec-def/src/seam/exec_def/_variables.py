"""The whole environment of a command, as a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator, TypeAdapter

from seam.exec_def._environment import SecretRef, Setting


class Variables(Mapping[str, Setting]):
    """Names and what they are set to; it cannot be changed, so it is shared instead of copied.

    In JSON it is an object: texts, and `{"secret": NAME}` for references.
    """

    def __init__(self, settings: Mapping[str, Setting]) -> None:
        self._settings: dict[str, Setting] = dict(settings)

    def __getitem__(self, name: str) -> Setting:
        return self._settings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    def __eq__(self, other: object) -> bool:
        return self._settings == (other._settings if isinstance(other, Variables) else other)

    def __hash__(self) -> int:
        return hash(frozenset(self._settings.items()))

    def __repr__(self) -> str:
        return f"Variables({self._settings!r})"

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Those that are set to a text."""
        return {name: value for name, value in self._settings.items() if isinstance(value, str)}

    @cached_property
    def references(self) -> Mapping[str, SecretRef]:
        """Those that are set to a secret."""
        return {name: value for name, value in self._settings.items() if not isinstance(value, str)}


_SETTINGS: TypeAdapter[dict[str, Setting]] = TypeAdapter(dict[str, Setting])


def _variables(given: object) -> Variables:
    return given if isinstance(given, Variables) else Variables(_SETTINGS.validate_python(given))


VariablesField = Annotated[
    Variables, PlainValidator(_variables, json_schema_input_type=dict[str, Setting]), PlainSerializer(dict)
]
"""A field of a value: an instance is taken as it is, a mapping becomes one, and in JSON it is an object."""
