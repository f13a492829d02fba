"""One epoll object for all descriptors of a runtime, waited for through its own descriptor."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable

import anyio
import sniffio

READ = select.EPOLLIN
WRITE = select.EPOLLOUT
_BATCH = 256
_OVER = select.EPOLLHUP | select.EPOLLERR

Handler = Callable[[bool], None]
"""Called when a descriptor is ready; the argument says that the other side is gone (read up to the end now)."""


class Poller:
    """Calls a handler when its descriptor is ready.

    The event loop watches a single descriptor, whatever the number of processes: that is what keeps a call close to
    the price of a blocking one, and idle processes free of charge."""

    __slots__ = ("_epoll", "_handlers", "_late", "_scope")

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._handlers: dict[int, Handler] = {}
        self._late: set[int] = set()
        self._scope = anyio.CancelScope(shield=True)

    def add(self, descriptor: int, handler: Handler, interest: int = READ, *, late: bool = False) -> None:
        """Watch a descriptor. Its owner removes it before closing it.

        `late` ones are called after all others of a round: the exit of a process after the end of its streams, which
        came before it, so that nothing is left to wait for."""
        self._epoll.register(descriptor, interest)
        self._handlers[descriptor] = handler
        if late:
            self._late.add(descriptor)

    def remove(self, descriptor: int) -> None:
        """Watch it no more."""
        del self._handlers[descriptor]
        self._late.discard(descriptor)
        self._epoll.unregister(descriptor)

    def dispatch(self) -> None:
        """Call the handlers of everything that is ready now."""
        ready = self._epoll.poll(0, _BATCH)
        if len(ready) > 1:
            ready.sort(key=lambda found: found[0] in self._late)
        for descriptor, events in ready:
            handler = self._handlers.get(descriptor)
            if handler is not None:  # else: removed by a handler before it in this very round
                handler(bool(events & _OVER))

    async def run(self) -> None:
        """Dispatch until `stop`; not ended by cancellation, since disposal needs it."""
        try:
            with self._scope:
                if sniffio.current_async_library() == "asyncio":
                    await self._serve_asyncio()
                else:
                    await self._serve()
        finally:
            self._epoll.close()

    async def _serve(self) -> None:
        descriptor = self._epoll.fileno()
        while True:
            await anyio.wait_readable(descriptor)
            self.dispatch()

    async def _serve_asyncio(self) -> None:
        # A reader that stays registered spares two system calls and a switch of tasks on every wake-up, which is worth
        # a twentieth of the price of a short command.
        loop = asyncio.get_running_loop()
        try:
            loop.add_reader(self._epoll.fileno(), self.dispatch)
        except NotImplementedError:  # a proactor loop
            await self._serve()
        try:
            await anyio.sleep_forever()
        finally:
            loop.remove_reader(self._epoll.fileno())

    def stop(self) -> None:
        """End `run`; nothing may be watched any more."""
        self._scope.cancel()
