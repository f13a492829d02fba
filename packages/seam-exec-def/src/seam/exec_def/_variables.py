"""The whole environment of a command, as a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

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

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Take an instance as it is, and make one of a mapping."""
        mapping = core_schema.no_info_after_validator_function(
            cls, handler.generate_schema(dict[str, Setting])
        )
        return core_schema.json_or_python_schema(
            json_schema=mapping,
            python_schema=core_schema.union_schema(
                [core_schema.is_instance_schema(cls), mapping], mode="left_to_right"
            ),
            serialization=core_schema.plain_serializer_function_ser_schema(
                dict, return_schema=handler.generate_schema(dict[str, Setting])
            ),
        )
