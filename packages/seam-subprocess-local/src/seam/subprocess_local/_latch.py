"""A one-way event that costs nothing while nobody waits for it."""

from __future__ import annotations

import anyio


class Latch:
    """Like `anyio.Event`, with the event made only when somebody waits."""

    __slots__ = ("_event", "is_set")

    def __init__(self) -> None:
        self.is_set = False
        self._event: anyio.Event | None = None

    def set(self) -> None:
        """Open the latch for good and wake everybody."""
        self.is_set = True
        if self._event is not None:
            self._event.set()

    async def wait(self) -> None:
        """Return when it is open."""
        if self.is_set:
            return
        if self._event is None:
            self._event = anyio.Event()
        await self._event.wait()
