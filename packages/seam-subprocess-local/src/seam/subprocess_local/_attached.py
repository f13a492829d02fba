"""A detached process, found again."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from seam.subprocess_def import (
    CollectedStream,
    Containment,
    Drain,
    Process,
    ProcessExit,
    StreamId,
    StreamUnavailable,
    Termination,
)
from seam.subprocess_local._latch import Latch
from seam.subprocess_local._outcome import describe_exit, signal_number
from seam.subprocess_local._record import (
    EVENTS_SUFFIX,
    DetachedRecord,
    ProcessIdentity,
    boot_id,
    events,
    identify,
    start_ticks,
)
from seam.subprocess_local._supervision import LeaderEnd
from seam.subprocess_local._wire import EXITED, FACT_ESCALATED, FACT_UNKNOWN, GONE, STARTED

_LOOK = 0.01
"""Seconds between looks for the line that a supervisor writes right after its leader's end."""


class AttachedProcess(Process):
    """Known by its record: watched through pidfds, ended through signals to its supervisor."""

    def __init__(self, path: str, record: DetachedRecord, patience: float) -> None:
        self._path = path
        self._record = record
        self._patience = patience
        told = events(path)
        started = told.get(STARTED)
        same_boot = record.boot == boot_id()
        self._leader = record.leader or (identify(started.pid) if started and same_boot else None)
        self._supervisor = record.supervisor or (identify(started.status) if started and same_boot else None)
        self._pid = self._leader.pid if self._leader else started.pid if started else 0
        self._same_boot = same_boot
        self._asked = False
        self._watching = anyio.CancelScope()
        self._exit: ProcessExit | None = None
        self._done = Latch()
        self._streams: Mapping[StreamId, CollectedStream] = {}
        self._on_disposed: Callable[[], None] = lambda: None
        if self._end_of(self._supervisor) or not same_boot:
            self._settle()

    def bind(self, on_disposed: Callable[[], None]) -> None:
        """Complete the handle."""
        self._on_disposed = on_disposed

    def add_files(self, files: Mapping[StreamId, CollectedStream]) -> None:
        """Streams that go straight into files."""
        self._streams = files

    def _end_of(self, identity: ProcessIdentity | None) -> bool:
        return identity is None or not self._same_boot or start_ticks(identity.pid) != identity.ticks

    async def watch(self) -> None:
        """Notice the end; a task of the runtime, stopped by `aclose`."""
        with self._watching:
            await self._watch()

    async def _watch(self) -> None:
        await self._until_gone(self._leader)
        if self._record.survivors == "end":
            await self._until_gone(self._supervisor)
        while EXITED not in events(self._path) and not self._end_of(self._supervisor):  # noqa: ASYNC110
            await anyio.sleep(_LOOK)  # another process writes it
        self._settle()

    async def _until_gone(self, identity: ProcessIdentity | None) -> None:
        descriptor = identity.open() if identity is not None and self._same_boot else None
        if descriptor is None:
            return
        try:
            await anyio.wait_readable(descriptor)
        finally:
            os.close(descriptor)

    def _settle(self) -> None:
        if self._exit is not None:
            return
        told = events(self._path)
        exited = told.get(EXITED)
        last = told.get(GONE, exited)
        escalated = last is not None and bool(last.facts & FACT_ESCALATED)
        ended = self._ended_at()
        why = "the machine was started anew" if not self._same_boot else "its supervisor ended without a word"
        known = exited is not None and not exited.facts & FACT_UNKNOWN
        self._exit = describe_exit(
            LeaderEnd(exited.status if exited and known else None, None if known else why, time.monotonic()),
            last,
            termination=Termination(by="terminate", escalated=escalated) if self._asked else None,
            drain=Drain(state="clean", streams=(), seconds=0.0),
            survivors=(),
            containment=self._record.containment,
            started_at=self._record.started_at,
            run_seconds=max(0.0, ended - self._record.started_at.timestamp()),
        )
        self._done.set()

    def _ended_at(self) -> float:
        try:
            return os.stat(self._path + EVENTS_SUFFIX).st_mtime  # noqa: PTH116
        except FileNotFoundError:
            return time.time()

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def containment(self) -> Containment:
        return self._record.containment

    @property
    def exit(self) -> ProcessExit | None:
        return self._exit

    @property
    def leader_exited(self) -> bool:
        return self._exit is not None or self._end_of(self._leader)

    def sink(self, stream: StreamId) -> ByteSendStream:
        raise self._unavailable(stream, "a pipe to write")

    def source(self, stream: StreamId) -> ByteReceiveStream:
        raise self._unavailable(stream, "a pipe to read")

    def collected(self, stream: StreamId) -> CollectedStream:
        try:
            return self._streams[stream]
        except KeyError:
            raise self._unavailable(stream, "collected") from None

    def _unavailable(self, stream: StreamId, wanted: str) -> StreamUnavailable:
        return StreamUnavailable(
            f"{stream} of a detached process is not {wanted}; it has files for {sorted(map(str, self._streams))}",
            stream=stream,
            wanted=wanted,
            kind=None,
        )

    async def wait(self) -> ProcessExit:
        await self._done.wait()
        assert self._exit is not None
        return self._exit

    async def wait_leader(self) -> None:
        await self._until_gone(self._leader)

    async def terminate(self, *, grace: float | None = None) -> ProcessExit:
        if self._exit is None or not self._end_of(self._supervisor):
            self._asked = self._asked or self._exit is None
            with anyio.CancelScope(shield=True):
                await self._end(self._record.grace if grace is None else grace)
        return await self.wait()

    async def _end(self, grace: float) -> None:
        self._tell(signal.SIGTERM)
        with anyio.move_on_after(grace):
            await self._until_gone(self._supervisor)
        self._tell(signal.SIGQUIT)
        with anyio.move_on_after(self._patience):
            await self._until_gone(self._supervisor)
        self._settle()

    def _tell(self, number: signal.Signals) -> None:
        descriptor = self._supervisor.open() if self._supervisor is not None else None
        if descriptor is None:
            return
        try:
            signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            return
        finally:
            os.close(descriptor)

    async def signal(self, name: str) -> None:
        number = signal_number(name)
        if not self._end_of(self._leader):
            try:
                os.killpg(self._pid, number)
            except ProcessLookupError:
                return

    async def aclose(self) -> None:
        self._watching.cancel()
        self._on_disposed()
