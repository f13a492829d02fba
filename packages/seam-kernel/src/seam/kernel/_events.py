"""Typed events in three modes, as values that a definition owns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Observe(Generic[P]):
    """Listeners are told; what they raise is contained."""

    name: str


@dataclass(frozen=True)
class Decide(Generic[P, R]):
    """Every listener answers; the answers are gathered."""

    name: str


@dataclass(frozen=True)
class Around(Generic[P, R]):
    """Middleware: each listener must call `next`."""

    name: str
