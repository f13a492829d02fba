from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from seam.subprocess_def import (
    ByteFilter,
    ByteRange,
    CollectedStream,
    Confidential,
    Containment,
    Data,
    Drain,
    Process,
    ProcessExit,
    SameAsStdout,
    SpawnSpec,
    StreamId,
    StreamSummary,
    StreamUnavailable,
    Termination,
    UnknownSignal,
    Window,
)

CONTAINMENT = Containment(
    level="group",
    whole_tree=False,
    host_death=False,
    gaps=("a process that leaves its group is not found", "processes outlive a killed host"),
)


class Memory(CollectedStream):
    """A stream that is known when the process is over."""

    def __init__(self) -> None:
        self.data = b""
        self.over = anyio.Event()

    @property
    def total(self) -> int:
        return len(self.data)

    @property
    def last_output_at(self) -> float | None:
        return None

    @property
    def ended(self) -> bool:
        return self.over.is_set()

    def head(self) -> bytes:
        return self.data

    def tail(self) -> bytes:
        return b""

    def summary(self) -> StreamSummary:
        kept = (ByteRange(start=0, end=len(self.data)),) if self.data else ()
        return StreamSummary(
            total=len(self.data),
            kept=kept,
            lost=(),
            truncated=False,
            reasons=(),
            spill=None,
            spill_error=None,
            ended="eof" if self.ended else "open",
        )

    async def read(self, offset: int, max_bytes: int) -> Window:
        return Window(
            offset=offset,
            data=self.data[offset : offset + max_bytes],
            total=len(self.data),
            lost=None,
            ended=self.ended,
            spill_path=None,
        )

    async def wait_beyond(self, offset: int) -> bool:
        await self.over.wait()
        return len(self.data) > offset


class SimpleProcess(Process):
    """One program; its streams are unnamed files, its end is read from a pidfd."""

    def __init__(
        self, spec: SpawnSpec, confidential: Confidential | None, filters: Mapping[StreamId, ByteFilter]
    ) -> None:
        self._filters = filters
        self._files = {"stdout": tempfile.TemporaryFile(), "stderr": tempfile.TemporaryFile()}  # noqa: SIM115 - closed at the end
        merged = isinstance(spec.stderr, SameAsStdout)
        with tempfile.TemporaryFile() as stdin:
            if isinstance(spec.stdin, Data):
                stdin.write(spec.stdin.data)
                stdin.seek(0)
            try:
                self._child = subprocess.Popen(
                    spec.argv,
                    executable=spec.executable,
                    cwd=spec.cwd,
                    env={**spec.env, **(confidential.env if confidential else {})},
                    stdin=stdin,
                    stdout=self._files["stdout"],
                    stderr=subprocess.STDOUT if merged else self._files["stderr"],
                    start_new_session=True,
                )
            except BaseException:
                self._close_files()
                raise
        self._streams: dict[StreamId, Memory] = {"stdout": Memory(), "stderr": Memory()}
        self._started_at = datetime.now(UTC)
        self._started = time.monotonic()
        self._termination: Termination | None = None
        self._exit: ProcessExit | None = None
        self._waiting = anyio.Lock()

    def _close_files(self) -> None:
        for file in self._files.values():
            file.close()

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def containment(self) -> Containment:
        return CONTAINMENT

    @property
    def exit(self) -> ProcessExit | None:
        return self._exit

    @property
    def leader_exited(self) -> bool:
        return self._exit is not None

    def sink(self, stream: StreamId) -> ByteSendStream:
        raise StreamUnavailable("acme has no pipes for callers", stream=str(stream))

    def source(self, stream: StreamId) -> ByteReceiveStream:
        raise StreamUnavailable("acme has no pipes for callers", stream=str(stream))

    def collected(self, stream: StreamId) -> CollectedStream:
        return self._streams[stream]

    async def wait(self) -> ProcessExit:
        async with self._waiting:
            if self._exit is None:
                descriptor = os.pidfd_open(self._child.pid)
                try:
                    await anyio.wait_readable(descriptor)
                finally:
                    os.close(descriptor)
                self._child.wait()
                for name, file in self._files.items():
                    file.seek(0)
                    self._settle("stdout" if name == "stdout" else "stderr", file.read())
                self._close_files()
                self._exit = self._ended()
            return self._exit

    def _settle(self, name: StreamId, data: bytes) -> None:
        masker = self._filters.get(name)
        self._streams[name].data = masker.feed(data) + masker.finish() if masker else data
        self._streams[name].over.set()

    def _ended(self) -> ProcessExit:
        code = self._child.returncode
        return ProcessExit(
            exit_code=code if code >= 0 else None,
            signal=signal.Signals(-code).name if code < 0 else None,
            unknown=None,
            core_dumped=False,
            termination=self._termination,
            drain=Drain(state="clean", streams=(), seconds=0.0),
            survivors=(),
            containment=CONTAINMENT,
            usage=None,
            started_at=self._started_at,
            run_seconds=time.monotonic() - self._started,
        )

    async def wait_leader(self) -> None:
        await self.wait()

    async def terminate(self, *, grace: float | None = None) -> ProcessExit:
        if self._exit is None:
            self._termination = Termination(by="terminate", escalated=True)
            self._kill(signal.SIGKILL)
        with anyio.CancelScope(shield=True):
            await self.wait()
        assert self._exit is not None
        return self._exit

    async def signal(self, name: str) -> None:
        if name not in signal.Signals.__members__:
            raise UnknownSignal(f"there is no signal {name}", name=name)
        if self._exit is None:
            self._kill(signal.Signals[name])

    def _kill(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
            os.killpg(self._child.pid, number)

    async def aclose(self) -> None:
        await self.terminate()
