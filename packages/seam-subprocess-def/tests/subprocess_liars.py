"""Implementers that break the contract in one way each: an honest runtime with one behaviour replaced."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import cast

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from seam.subprocess_def import (
    BadWorkingDirectory,
    ByteFilter,
    CollectedStream,
    Confidential,
    Containment,
    Null,
    Process,
    ProcessExit,
    SameAsStdout,
    SpawnFailed,
    SpawnLimits,
    SpawnSpec,
    StreamId,
    StreamSummary,
    SubprocessRuntime,
    TerminalProcess,
    TerminalSpec,
    Window,
)
from seam.subprocess_local import open_runtime


class Relay(SubprocessRuntime):
    """Passes everything on; liars override one method."""

    def __init__(self, inner: SubprocessRuntime) -> None:
        self.inner = inner

    @property
    def world_id(self) -> str:
        return self.inner.world_id

    @property
    def platform(self) -> str:
        return self.inner.platform

    @property
    def limits(self) -> SpawnLimits:
        return self.inner.limits

    async def which(self, name: str, env: Mapping[str, str]) -> str | None:
        return await self.inner.which(name, env)

    def change(self, spec: SpawnSpec) -> SpawnSpec:
        """What is run instead of the spec."""
        return spec

    def wrap(self, process: Process) -> Process:
        """What is returned instead of the process."""
        return process

    async def spawn(
        self,
        spec: SpawnSpec,
        *,
        confidential: Confidential | None = None,
        filters: Mapping[StreamId, ByteFilter] | None = None,
    ) -> Process:
        changed = self.change(spec) if isinstance(spec, SpawnSpec) else spec  # pyright: ignore[reportUnnecessaryIsInstance]
        return self.wrap(await self.inner.spawn(changed, confidential=confidential, filters=filters))

    async def spawn_terminal(
        self,
        spec: TerminalSpec,
        *,
        confidential: Confidential | None = None,
        terminal_filter: ByteFilter | None = None,
    ) -> TerminalProcess:
        return await self.inner.spawn_terminal(
            spec, confidential=confidential, terminal_filter=terminal_filter
        )

    async def attach(self, record: str) -> Process:
        return await self.inner.attach(record)


class RelayProcess(Process):
    """Passes everything on; liars override one method."""

    def __init__(self, inner: Process) -> None:
        self.inner = inner

    @property
    def pid(self) -> int:
        return self.inner.pid

    @property
    def containment(self) -> Containment:
        return self.inner.containment

    @property
    def exit(self) -> ProcessExit | None:
        return self.inner.exit

    @property
    def leader_exited(self) -> bool:
        return self.inner.leader_exited

    def sink(self, stream: StreamId) -> ByteSendStream:
        return self.inner.sink(stream)

    def source(self, stream: StreamId) -> ByteReceiveStream:
        return self.inner.source(stream)

    def collected(self, stream: StreamId) -> CollectedStream:
        return self.inner.collected(stream)

    async def wait(self) -> ProcessExit:
        return await self.inner.wait()

    async def wait_leader(self) -> None:
        await self.inner.wait_leader()

    async def terminate(self, *, grace: float | None = None) -> ProcessExit:
        return await self.inner.terminate(grace=grace)

    async def signal(self, name: str) -> None:
        await self.inner.signal(name)

    async def aclose(self) -> None:
        await self.inner.aclose()


class RelayStream(CollectedStream):
    """Passes everything on; liars override one method."""

    def __init__(self, inner: CollectedStream) -> None:
        self.inner = inner

    @property
    def total(self) -> int:
        return self.inner.total

    @property
    def last_output_at(self) -> float | None:
        return self.inner.last_output_at

    @property
    def ended(self) -> bool:
        return self.inner.ended

    def head(self) -> bytes:
        return self.inner.head()

    def tail(self) -> bytes:
        return self.inner.tail()

    def summary(self) -> StreamSummary:
        return self.inner.summary()

    async def read(self, offset: int, max_bytes: int) -> Window:
        return await self.inner.read(offset, max_bytes)

    async def wait_beyond(self, offset: int) -> bool:
        return await self.inner.wait_beyond(offset)


def lying(
    kind: Callable[[SubprocessRuntime], Relay],
) -> Callable[[], AbstractAsyncContextManager[SubprocessRuntime]]:
    """How a subject opens a liar."""

    @asynccontextmanager
    async def opened() -> AsyncGenerator[SubprocessRuntime]:
        async with open_runtime() as inner:
            yield kind(inner)

    return opened


class LeaksAChild(Relay):
    """A daemon of the tree gets away: what says setsid leaves one process more."""

    strays: list[subprocess.Popen[bytes]]

    def __init__(self, inner: SubprocessRuntime) -> None:
        super().__init__(inner)
        self.strays = []

    def tidy_up(self) -> None:
        """End what got away, after the check."""
        for stray in self.strays:
            stray.wait()

    def change(self, spec: SpawnSpec) -> SpawnSpec:
        if any("setsid sleep" in argument for argument in spec.argv):
            stray = ["timeout", "1", "sleep", "300"]
            self.strays.append(subprocess.Popen(stray, env=dict(spec.env), start_new_session=True))
        return spec


class CallsDeathASuccess(Relay):
    """A command killed by a signal of its own is reported with exit code 0."""

    def wrap(self, process: Process) -> Process:
        class Lying(RelayProcess):
            async def wait(self) -> ProcessExit:
                ended = await self.inner.wait()
                if ended.signal is None or ended.termination is not None:
                    return ended
                return ended.model_copy(update={"exit_code": 0, "signal": None})

        return Lying(process)


class DeniesTruncation(Relay):
    """Says that everything was kept."""

    def wrap(self, process: Process) -> Process:
        class Lying(RelayStream):
            def summary(self) -> StreamSummary:
                return self.inner.summary().model_copy(update={"truncated": False, "reasons": ()})

        return _with_streams(process, Lying)


class StealsBytes(Relay):
    """What one reader has read, no other can read again."""

    def wrap(self, process: Process) -> Process:
        class Lying(RelayStream):
            read_up_to = 0

            async def read(self, offset: int, max_bytes: int) -> Window:
                window = await self.inner.read(max(offset, self.read_up_to), max_bytes)
                self.read_up_to = max(self.read_up_to, window.next_offset)
                return window

        return _with_streams(process, Lying)


def _with_streams(process: Process, kind: Callable[[CollectedStream], CollectedStream]) -> Process:
    class Lying(RelayProcess):
        streams: dict[StreamId, CollectedStream]

        def collected(self, stream: StreamId) -> CollectedStream:
            if stream not in self.streams:
                self.streams[stream] = kind(self.inner.collected(stream))
            return self.streams[stream]

    lying = Lying(process)
    lying.streams = {}
    return lying


class EatsInput(Relay):
    """Known input never arrives."""

    def change(self, spec: SpawnSpec) -> SpawnSpec:
        return spec.model_copy(update={"stdin": Null()}) if spec.stdin.kind == "data" else spec


class SwallowsCancellation(Relay):
    """A cancelled wait returns as if nothing had happened, by ending the process."""

    def wrap(self, process: Process) -> Process:
        class Lying(RelayProcess):
            async def wait(self) -> ProcessExit:
                found: list[ProcessExit] = []
                with anyio.CancelScope(shield=True):
                    with anyio.move_on_after(0.3) as scope:
                        found.append(await self.inner.wait())
                    if scope.cancelled_caught:
                        found.append(await self.inner.terminate())
                return found[0]

        return Lying(process)


class HangsOnInheritedPipes(Relay):
    """Waits for the end of every pipe."""

    def wrap(self, process: Process) -> Process:
        class Lying(RelayProcess):
            async def wait(self) -> ProcessExit:
                ended = await self.inner.wait()
                if ended.drain.state == "held":
                    await anyio.sleep_forever()
                return ended

        return Lying(process)


class DisposesWithoutEnding(Relay):
    """Closing the handle returns at once; the tree ends when it likes."""

    def wrap(self, process: Process) -> Process:
        class Lying(RelayProcess):
            async def aclose(self) -> None:
                if self.inner.exit is not None:
                    await self.inner.aclose()

        return Lying(process)


class DropsEmptyArguments(Relay):
    """Loses what looks like nothing."""

    def change(self, spec: SpawnSpec) -> SpawnSpec:
        return spec.model_copy(update={"argv": tuple(argument for argument in spec.argv if argument)})


class AddsToTheEnvironment(Relay):
    """Helps with a variable that nobody asked for."""

    def change(self, spec: SpawnSpec) -> SpawnSpec:
        return spec.model_copy(update={"env": {**spec.env, "HELPFUL": "1"}})


class FallsBackToAnotherDirectory(Relay):
    """Runs somewhere else when the directory is missing."""

    async def spawn(
        self,
        spec: SpawnSpec,
        *,
        confidential: Confidential | None = None,
        filters: Mapping[StreamId, ByteFilter] | None = None,
    ) -> Process:
        try:
            return await super().spawn(spec, confidential=confidential, filters=filters)
        except BadWorkingDirectory as problem:
            if problem.facts["reason"] != "missing":
                raise
            return await super().spawn(
                spec.model_copy(update={"cwd": "/"}), confidential=confidential, filters=filters
            )


class LosesTheOrder(Relay):
    """Merged streams without the errors."""

    def change(self, spec: SpawnSpec) -> SpawnSpec:
        return spec.model_copy(update={"stderr": Null()}) if isinstance(spec.stderr, SameAsStdout) else spec


class SkipsFilters(Relay):
    """Collects without masking."""

    async def spawn(
        self,
        spec: SpawnSpec,
        *,
        confidential: Confidential | None = None,
        filters: Mapping[StreamId, ByteFilter] | None = None,
    ) -> Process:
        given = cast(object, spec)
        if not isinstance(given, SpawnSpec):  # the kit also sends what is none
            return await super().spawn(spec, confidential=confidential, filters=filters)
        kept = filters if given.lifetime.kind == "detached" or given.stdout.kind == "pipe" else None
        return await super().spawn(spec, confidential=confidential, filters=kept)


class KillsAtOnce(Relay):
    """Gives no grace."""

    def wrap(self, process: Process) -> Process:
        class Lying(RelayProcess):
            async def terminate(self, *, grace: float | None = None) -> ProcessExit:
                return await self.inner.terminate(grace=0.0 if grace is None or grace >= 1.0 else grace)

        return Lying(process)


class LeaksDescriptors(Relay):
    """Keeps something open of every start that failed; gives it back at the very end."""

    kept: list[int]

    def __init__(self, inner: SubprocessRuntime) -> None:
        super().__init__(inner)
        self.kept = []

    async def spawn(
        self,
        spec: SpawnSpec,
        *,
        confidential: Confidential | None = None,
        filters: Mapping[StreamId, ByteFilter] | None = None,
    ) -> Process:
        try:
            return await super().spawn(spec, confidential=confidential, filters=filters)
        except SpawnFailed as problem:
            if problem.code != "TOO_MANY_DESCRIPTORS":
                self.kept.append(os.open(os.devnull, os.O_RDONLY))
            raise

    def tidy_up(self) -> None:
        """Close what was leaked, after the check."""
        for descriptor in self.kept:
            os.close(descriptor)


class BlocksTheLoop(Relay):
    """Reads on the event loop until there is nothing more."""

    def wrap(self, process: Process) -> Process:
        class Lying(RelayProcess):
            async def wait(self) -> ProcessExit:
                if "200000000" in _command_line(self.pid):
                    while _command_line(self.pid):
                        time.sleep(0.01)
                        self.inner.collected("stdout")
                        _pump(self.inner)
                return await self.inner.wait()

        return Lying(process)


def _pump(process: Process) -> None:
    process._supervision._poller.dispatch()  # type: ignore[attr-defined]  # pyright: ignore


def _command_line(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


class BoastsOfContainment(Relay):
    """Denies a promise that it says it keeps."""

    def wrap(self, process: Process) -> Process:
        class Lying(RelayProcess):
            async def wait(self) -> ProcessExit:
                ended = await self.inner.wait()
                containment = ended.containment.model_copy(update={"whole_tree": False})
                return ended.model_copy(update={"containment": containment})

        return Lying(process)
