"""Everything that an executor runs, so that its disposal can end it and wait."""

from __future__ import annotations

from collections.abc import Callable

import anyio


class Ledger:
    """What is running, and how each is told to end."""

    def __init__(self) -> None:
        self._entries: dict[object, Callable[[], None]] = {}
        self._changed: anyio.Event | None = None
        self.closing = False
        """Nothing new may be entered."""

    def __len__(self) -> int:
        return len(self._entries)

    def enter(self, end: Callable[[], None]) -> object:
        """Note something that runs; `end` tells it to end and returns at once."""
        token = object()
        self._entries[token] = end
        return token

    def update(self, token: object, end: Callable[[], None]) -> None:
        """Say how an entry is told to end from now on; if the ledger is closing already, it is told now."""
        self._entries[token] = end
        if self.closing:
            end()

    def leave(self, token: object) -> None:
        """It is over. Leaving twice changes nothing."""
        if self._entries.pop(token, None) is not None and self._changed is not None:
            self._changed.set()

    async def close(self) -> None:
        """Tell everything to end, and wait until nothing is left."""
        self.closing = True
        for end in list(self._entries.values()):
            end()
        while self._entries:
            self._changed = anyio.Event()
            await self._changed.wait()
