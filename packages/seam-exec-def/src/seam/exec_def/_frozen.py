"""A mapping that cannot be changed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, TypeVar

from pydantic import AfterValidator, PlainSerializer

K = TypeVar("K")
V = TypeVar("V")


def _freeze(mapping: Mapping[K, V]) -> Mapping[K, V]:
    return MappingProxyType(dict(mapping))


def _thaw(mapping: Mapping[K, V]) -> dict[K, V]:
    return dict(mapping)


FrozenMapping = Annotated[Mapping[K, V], AfterValidator(_freeze), PlainSerializer(_thaw)]
"""A mapping field: copied in, read only, an object in JSON."""
