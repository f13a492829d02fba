"""Which instances have to be looked at again, and who waits until there are none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel

if TYPE_CHECKING:
    from seam.kernel._node import Node
    from seam.kernel._place import Place


class Agenda:
    """Collects what changed; one task works it off, so that a burst of changes is looked at once."""

    def __init__(self) -> None:
        self._alarm = anyio.Event()
        self._due: dict[Node, None] = {}
        self._interested: dict[str, dict[Node, None]] = {}
        self._settling: dict[anyio.Event, Place] = {}

    def wake(self) -> None:
        """Have the task look, even if nothing is due: something began or ended."""
        self._alarm.set()

    async def next_change(self, until: float) -> None:
        """Return when something changed, or at a moment of the event loop's clock."""
        with anyio.CancelScope(deadline=until):
            await self._alarm.wait()
        self._alarm = anyio.Event()

    def follow(self, node: Node) -> None:
        """Look at an instance now, and whenever one of its keys is touched."""
        for key in (*node.requires, *node.optional):
            self._interested.setdefault(key, {})[node] = None
        self.add([node])

    def forget(self, node: Node) -> None:
        """An instance is gone."""
        for key in (*node.requires, *node.optional):
            self._interested[key].pop(node, None)

    def add(self, nodes: Iterable[Node]) -> None:
        """Look at these soon."""
        self._due.update(dict.fromkeys(nodes))
        self._alarm.set()

    def touch(self, keys: Iterable[str]) -> None:
        """Look again at everybody who is interested in these keys."""
        for key in keys:
            self.add(self._interested.get(key, ()))

    def is_due(self, node: Node) -> bool:
        """Whether an instance will be looked at soon."""
        return node in self._due

    def work(self) -> Iterator[Node]:
        """Everything that is due, including what becomes due meanwhile."""
        while self._due:
            batch, self._due = self._due, {}
            yield from batch

    async def settle(self, place: Place) -> None:
        """Return when nothing in a scope's neighbourhood is due, starting or stopping."""
        await anyio.lowlevel.checkpoint()
        while not self._settled(place):
            event = anyio.Event()
            self._settling[event] = place
            try:
                await event.wait()
            finally:
                del self._settling[event]

    def tell_settled(self) -> None:
        """Wake up those whose scope has come to rest."""
        for event, place in self._settling.items():
            if self._settled(place):
                event.set()

    def _settled(self, place: Place) -> bool:
        # a pending alarm is a pass to come: what it finds may start or stop something here
        if self._due or self._alarm.is_set():
            return False
        return place.calm() and not any(below.busy for below in place.subtree())
