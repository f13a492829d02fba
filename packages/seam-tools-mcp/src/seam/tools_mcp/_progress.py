"""Progress of one call on its way to the client; it costs nothing until there is some."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Self

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from seam.tools_def import Progress

Report = Callable[[float, float | None, str | None], Awaitable[None]]
"""How a client is told: done, total, text."""

WAITING = 1000
"""Messages that wait for a slow client; it misses those beyond."""


class ProgressLine:
    """The sink of one call, for as long as its block lasts."""

    def __init__(self, tasks: TaskGroup, report: Report) -> None:
        self._tasks = tasks
        self._report = report
        self._send: MemoryObjectSendStream[Progress] | None = None
        self._scope: anyio.CancelScope
        self._done: anyio.Event
        self._failure: Exception | None = None
        self._over = False

    def __call__(self, progress: Progress) -> None:
        """Take one message; it goes out in order, by a task of the door."""
        if self._over:
            return  # code that was left behind goes on talking; its call has its answer
        if self._send is None:
            self._scope, self._done = anyio.CancelScope(), anyio.Event()
            self._send, receive = anyio.create_memory_object_stream[Progress](WAITING)
            self._tasks.start_soon(self._forward, receive)
        try:
            self._send.send_nowait(progress)
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # progress is advice: a slow client misses some of it, never the result

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Wait until everything that came is sent; where the call ends early, give up the rest. Raises what telling the client raised."""
        self._over = True
        if self._send is None:
            return
        self._send.close()
        if kind is not None:
            self._scope.cancel()
        try:
            await self._done.wait()
        except anyio.get_cancelled_exc_class():
            self._scope.cancel()
            raise
        if self._failure is not None and kind is None:
            raise self._failure

    async def _forward(self, receive: MemoryObjectReceiveStream[Progress]) -> None:
        try:
            with self._scope, receive:
                await self._tell(receive)
        except Exception as error:  # the call's, not the door's
            self._failure = error
        finally:
            self._done.set()

    async def _tell(self, receive: MemoryObjectReceiveStream[Progress]) -> None:
        count = 0
        async for progress in receive:
            count += 1
            # MCP wants a number that grows with each message; live output has none of its own
            told = progress.done if progress.kind == "progress" else None
            done = float(count) if told is None else told
            await self._report(done, progress.total, progress.text)
