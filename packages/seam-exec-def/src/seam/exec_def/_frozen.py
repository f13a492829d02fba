"""Settings of every value that crosses a package boundary, and a mapping that cannot be changed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer

K = TypeVar("K")
V = TypeVar("V")


class Frozen(BaseModel):
    """A value: immutable, without unknown fields, bytes as base64 in JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")


def _freeze(mapping: Mapping[K, V]) -> Mapping[K, V]:
    return MappingProxyType(dict(mapping))


def _thaw(mapping: Mapping[K, V]) -> dict[K, V]:
    return dict(mapping)


FrozenMapping = Annotated[Mapping[K, V], AfterValidator(_freeze), PlainSerializer(_thaw)]
"""A mapping field: copied in, read only, an object in JSON."""
