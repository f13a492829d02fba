"""Awaiting something to its end, whatever happens to the task that awaits."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

import anyio

T = TypeVar("T")


async def shielded(awaitable: Awaitable[T]) -> T:
    """Return the awaitable's value; a cancellation from outside is delivered afterwards."""
    values: list[T] = []
    with anyio.CancelScope(shield=True):  # never cancelled itself, so it swallows nothing
        values.append(await awaitable)
    return values[0]
