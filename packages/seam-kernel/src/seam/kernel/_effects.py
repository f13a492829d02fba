"""What a plugin registered, undone in strict reverse order."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TypeAlias

Release: TypeAlias = Callable[[], None]
"""Undoes one registration, at once; calling it again does nothing."""

Disposer: TypeAlias = Callable[[], Awaitable[None]]
"""Undoes one registration and waits until it is undone; calling it again does nothing."""


class Effect:
    """One registration and the way to undo it."""

    __slots__ = ("name", "undo")

    def __init__(self, name: str, undo: Callable[[], Awaitable[object] | object]) -> None:
        self.name = name
        self.undo = undo


class EffectStack:
    """The registrations of one run of a plugin, oldest first."""

    def __init__(self) -> None:
        self._entries: dict[Effect, None] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, effect: Effect) -> bool:
        return effect in self._entries

    def push(self, name: str, undo: Callable[[], Awaitable[object] | object]) -> Effect:
        """Remember one more."""
        effect = Effect(name, undo)
        self._entries[effect] = None
        return effect

    def remove(self, effect: Effect) -> bool:
        """Forget one without undoing it; false when it was gone already."""
        if effect not in self._entries:
            return False
        del self._entries[effect]
        return True

    def pop(self) -> Effect | None:
        """Take the latest one off."""
        return self._entries.popitem()[0] if self._entries else None

    def disposer(self, effect: Effect) -> Disposer:
        """An idempotent disposer of one effect; what undoing raises goes to the caller."""

        async def dispose() -> None:
            if self.remove(effect):
                await undo(effect)

        return dispose


async def undo(effect: Effect) -> None:
    """Undo one effect, whether its way to do so is synchronous or not."""
    outcome = effect.undo()
    if inspect.isawaitable(outcome):
        await outcome
