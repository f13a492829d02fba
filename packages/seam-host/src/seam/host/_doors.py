"""Which doors are open, so that a process that only serves ends when nothing can come in any more."""

from __future__ import annotations

from collections.abc import Iterable

import anyio

from seam.tools_def import DoorClosed


class Doors:
    """The doors of a process, by row name."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._closed: dict[str, DoorClosed] = {}
        self._all_closed = anyio.Event()

    def opening(self, names: Iterable[str]) -> None:
        """These are started now."""
        self._open = set(names) - set(self._closed)

    def on_closed(self, told: DoorClosed) -> None:
        """A door tells that its other side is gone; it may do so while the others still start."""
        self._closed[told.door] = told
        if self._open and self._open <= set(self._closed):
            self._all_closed.set()

    async def closed(self) -> tuple[DoorClosed, ...]:
        """Wait until every door is closed, and tell why; for ever where there is none."""
        await self._all_closed.wait()
        return tuple(self._closed[name] for name in sorted(self._open))
