"""The handle of a running process."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Literal

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from seam.subprocess_def import (
    CollectedStream,
    Containment,
    Drain,
    Process,
    ProcessExit,
    StreamId,
    Survivor,
    Termination,
)
from seam.subprocess_local._cgroup import clear_cgroup
from seam.subprocess_local._collector import Collector
from seam.subprocess_local._ends import Manner, Streams, find
from seam.subprocess_local._latch import Latch
from seam.subprocess_local._outcome import describe_exit, signal_number
from seam.subprocess_local._supervision import Supervision
from seam.subprocess_local._wire import Request

_CLEAN = Drain(state="clean", streams=(), seconds=0.0)

_LAST_WORDS = 1.0
"""Seconds for reading what dead writers left in a pipe; only a holder outside the tree can use it up."""


class LocalProcess(Process):
    """A process under a supervisor.

    The quick way (the leader exits, the tree is empty, the streams end) is settled by callbacks alone. Everything else
    is the business of one task, `_settle`, that belongs to the runtime."""

    def __init__(
        self,
        manner: Manner,
        started_at: datetime,
        start_soon: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        self._manner = manner
        self._started_at = started_at
        self._start = time.monotonic()
        self._start_soon = start_soon
        self._termination: Literal["terminate", "dispose"] | None = None
        self._settling = False
        self._streams_open = 0
        self._filter_error: Exception | None = None
        self._closed = False
        self._exit: ProcessExit | None = None
        self._leader_exited = Latch()
        self._streams_ended = Latch()
        self._done = Latch()
        self._supervision: Supervision
        self._streams: Streams
        self._on_disposed: Callable[[LocalProcess], None]

    def bind(
        self, supervision: Supervision, streams: Streams, on_disposed: Callable[[LocalProcess], None]
    ) -> None:
        """Complete the handle, once its supervisor was started."""
        self._supervision = supervision
        self._streams = streams
        self._streams_open = len(streams.collectors())
        self._on_disposed = on_disposed

    def add_files(self, files: Mapping[StreamId, CollectedStream]) -> None:
        """Streams that go straight into files."""
        self._streams.collected.update(files)

    # -- facts --

    @property
    def supervisor_pid(self) -> int:
        """The process id of the supervisor."""
        return self._supervision.supervisor_pid

    @property
    def pid(self) -> int:
        return self._supervision.pid

    @property
    def containment(self) -> Containment:
        return self._manner.containment

    @property
    def exit(self) -> ProcessExit | None:
        return self._exit

    @property
    def leader_exited(self) -> bool:
        return self._leader_exited.is_set

    def sink(self, stream: StreamId) -> ByteSendStream:
        return find(self._streams.sinks, stream, "a pipe to write")

    def source(self, stream: StreamId) -> ByteReceiveStream:
        return find(self._streams.sources, stream, "a pipe to read")

    def collected(self, stream: StreamId) -> CollectedStream:
        return find(self._streams.collected, stream, "collected")

    # -- the course of things --

    def changed(self) -> None:
        """Something was told or a stream has ended: see whether that was the last thing missing."""
        if self._exit is not None or self._supervision.leader is None:
            return
        self._leader_exited.set()
        if not self._streams_open:
            self._streams_ended.set()
            if self._supervision.gone.is_set and not self._settling and not self._supervision.lost:
                self._finish("clean", (), 0.0, ())
                return
        if not self._settling:
            self._settling = True
            self._start_soon(self._settle)

    def stream_ended(self, collector: Collector) -> None:
        """A collected stream has ended; a filter that failed takes the whole process with it."""
        self._streams_open -= 1
        if collector.filter_error is not None:
            self._filter_error = collector.filter_error
            self._supervision.request(Request.TERMINATE, 0)
        if self._supervision.leader is not None:
            self.changed()

    def _open(self) -> list[str]:
        return [str(stream) for stream, collector in self._streams.collectors() if not collector.ended]

    async def _settle(self) -> None:
        """The leader has exited, and something is left: streams that are held, descendants that live on."""
        started = time.monotonic()
        with anyio.move_on_after(self._manner.drain):
            await self._streams_ended.wait()
        held, drained = tuple(self._open()), time.monotonic() - started
        with anyio.move_on_after(self._manner.settle):
            await self._supervision.gone.wait()
        survivors: tuple[Survivor, ...] = ()
        if not self._supervision.gone.is_set:
            survivors = await self._treat_survivors()
        if not self._manner.keep_survivors:
            with anyio.move_on_after(_LAST_WORDS if self._open() else 0):
                await self._streams_ended.wait()
            for _, collector in self._streams.collectors():
                collector.end("held")
        if self._supervision.lost and self._manner.cgroup:
            await clear_cgroup(self._manner.cgroup)
        if self._exit is None:
            self._finish("held" if held else "clean", held, drained, survivors)

    async def _treat_survivors(self) -> tuple[Survivor, ...]:
        found: list[tuple[int, str]] = []
        with anyio.move_on_after(self._manner.patience):
            # a tree that forks and exits all the time can hide from a single look
            while not found and not self._supervision.gone.is_set:
                found = await self._supervision.survivors()
        fate: Literal["ended", "kept", "escaped"] = "kept"
        if self._termination is not None or not self._manner.keep_survivors:
            fate = "ended" if await self._end_tree(self._manner.grace) else "escaped"
        return tuple(Survivor(pid=pid, name=name, fate=fate) for pid, name in found)

    async def _end_tree(self, grace: float) -> bool:
        """Ask for the end and wait for it; False when something of the tree does not go."""
        self._supervision.request(Request.TERMINATE, round(grace * 1000))
        with anyio.move_on_after(grace + self._manner.patience):
            await self._supervision.gone.wait()
        return self._supervision.gone.is_set

    def _finish(
        self,
        state: Literal["clean", "held"],
        held: tuple[str, ...],
        drained: float,
        survivors: tuple[Survivor, ...],
    ) -> None:
        supervision, leader = self._supervision, self._supervision.leader
        at = leader.at if leader else time.monotonic()
        termination = self._termination and Termination(by=self._termination, escalated=supervision.escalated)
        self._exit = describe_exit(
            leader,
            supervision.usage,
            termination=termination or None,
            drain=_CLEAN
            if drained == 0.0 and state == "clean"
            else Drain(state=state, streams=held, seconds=drained),
            survivors=survivors,
            containment=self._manner.containment,
            started_at=self._started_at,
            run_seconds=at - self._start,
        )
        self._leader_exited.set()
        self._done.set()

    # -- what callers ask --

    async def wait(self) -> ProcessExit:
        await self._done.wait()
        assert self._exit is not None
        if self._filter_error is not None:
            raise self._filter_error
        return self._exit

    async def wait_leader(self) -> None:
        await self._leader_exited.wait()

    async def terminate(self, *, grace: float | None = None) -> ProcessExit:
        await self._terminate("terminate", self._manner.grace if grace is None else grace)
        return await self.wait()

    async def _terminate(self, by: Literal["terminate", "dispose"], grace: float) -> None:
        if self._exit is not None and self._supervision.gone.is_set:
            return
        if self._exit is None and self._termination is None:
            self._termination = by
        with anyio.CancelScope(shield=True):
            ended = await self._end_tree(grace)
            if ended:
                with anyio.move_on_after(self._manner.drain + self._manner.settle + 2 * _LAST_WORDS):
                    await self._done.wait()
            if self._exit is None:
                self._finish("held", tuple(self._open()), 0.0, ())

    async def signal(self, name: str) -> None:
        number = signal_number(name)
        self._supervision.request(Request.SIGNAL, number)

    async def aclose(self) -> None:
        if self._closed:
            return
        if not self._manner.detached and not (self._exit is not None and self._supervision.gone.is_set):
            await self._terminate("dispose", self._manner.grace)
        self.release()

    def release(self) -> None:
        """Close what this handle holds; nothing of the process is left, or it goes on by itself."""
        self._supervision.close()
        self._streams.close()
        self._closed = True
        self._on_disposed(self)
