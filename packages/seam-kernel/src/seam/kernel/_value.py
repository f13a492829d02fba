"""The base of every value that crosses a package boundary, and a mapping for such values that cannot be changed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer

K = TypeVar("K")
V = TypeVar("V")


class Value(BaseModel):
    """A frozen model that refuses fields it does not know; bytes are base64 in JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")
    _template: ClassVar[Mapping[str, object]] = {}

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls._template = {name: field.default for name, field in cls.model_fields.items()}

    @classmethod
    def trusted(cls, **fields: object) -> Self:
        """A value out of fields that are known to be right: not validated, nothing copied, a third of the price.

        Every field without a default has to be given. For values of one's own on the way of every call, and for those that
        hold what validation would replace (a frozen dictionary by a plain one). As `model_construct`, for models without private
        attributes, extra fields and default factories.
        """
        value = cls.__new__(cls)
        _set(value, "__dict__", {**cls._template, **fields})
        _set(value, "__pydantic_fields_set__", set(fields))
        _set(value, "__pydantic_extra__", None)
        _set(value, "__pydantic_private__", None)
        return value


_set = object.__setattr__


def _freeze(mapping: Mapping[K, V]) -> Mapping[K, V]:
    return MappingProxyType(dict(mapping))


def _thaw(mapping: Mapping[K, V]) -> dict[K, V]:
    return dict(mapping)


FrozenMapping = Annotated[Mapping[K, V], AfterValidator(_freeze), PlainSerializer(_thaw)]
"""A mapping field of a value: copied in, read only, an object in JSON."""
