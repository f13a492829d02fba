"""Commands that outlive the host: their streams are files, their handle only watches."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from seam.exec_def import (
    Containment,
    DetachedUnsupported,
    Drain,
    ExecProcess,
    ExecResult,
    ExecSpec,
    OutputSlice,
    Progress,
    SandboxFacts,
    StreamName,
    TimeSplit,
)
from seam.exec_local._failures import translate
from seam.exec_local._streams import slice_of, view
from seam.subprocess_def import (
    DetachedLifetime,
    File,
    Process,
    ProcessExit,
    RecordUnusable,
    SameAsStdout,
    SpawnSpec,
    SubprocessError,
    SubprocessRuntime,
)


class DetachedProcess(ExecProcess):
    """A command that goes on without us. Closing the handle lets go of it; only `terminate` ends it."""

    def __init__(self, spec: ExecSpec, process: Process) -> None:
        self._spec = spec
        self._process = process
        self._result: ExecResult | None = None
        self._aborted: str | None = None

    @property
    def spec(self) -> ExecSpec:
        """What is being run."""
        return self._spec

    @property
    def pid(self) -> int | None:
        """Process id of the shell."""
        return self._process.pid

    @property
    def sandbox(self) -> SandboxFacts:
        """None: a command that outlives the host is not confined."""
        return SandboxFacts(mode=self._spec.isolation.mode)

    @property
    def result(self) -> ExecResult | None:
        """The record, once somebody has waited for it."""
        return self._result

    async def wait(self) -> ExecResult:
        """Wait for the end and make the record."""
        end = await self._process.wait()
        self._result = self._result or self._record(end)
        return self._result

    def _record(self, end: ProcessExit) -> ExecResult:
        held, clean = end.containment, end.drain.state == "clean"
        merged = self._spec.streams == "merged"
        return ExecResult(
            cause="aborted"
            if self._aborted
            else "lost"
            if end.unknown
            else "signalled"
            if end.signal
            else "exited",
            ended_by="owner" if self._aborted else "unknown" if end.signal or end.unknown else "command",
            exit_code=end.exit_code,
            signal=end.signal,
            aborted=self._aborted is not None,
            abort_reason=self._aborted,
            lost_reason=end.unknown,
            stdout=view(self._process.collected("stdout"), self._spec.output, 0, clean=clean),
            stderr=None
            if merged
            else view(self._process.collected("stderr"), self._spec.output, 0, clean=clean),
            drain=Drain(clean=clean, streams=end.drain.streams),
            containment=Containment(
                level=held.level, whole_tree=held.whole_tree, host_death=held.host_death, gaps=held.gaps
            ),
            sandbox=self.sandbox,
            started_at=end.started_at,
            times=TimeSplit(queue=0.0, spawn=0.0, run=end.run_seconds, drain=end.drain.seconds),
            limits=self._spec.limits,
        )

    async def terminate(self, *, reason: str = "ended by its owner") -> ExecResult:
        """End the whole tree and wait until it is gone."""
        if self._process.exit is None:
            self._aborted = self._aborted or reason
            await self._process.terminate()
        return await self.wait()

    async def read(self, stream: StreamName = "stdout", *, offset: int = 0, limit: int) -> OutputSlice:
        """Return bytes from an absolute offset of the file."""
        return slice_of(stream, await self._process.collected(stream).read(offset, limit))

    async def wait_beyond(self, offset: int, stream: StreamName = "stdout") -> bool:
        """Wait for more output, or the end of the stream."""
        return await self._process.collected(stream).wait_beyond(offset)

    def subscribe(self, progress: Progress) -> Callable[[], None]:
        """Nothing passes through here: the command writes its file itself. Read it by offset."""
        return lambda: None

    async def aclose(self) -> None:
        """Let go; the command goes on."""
        with anyio.CancelScope(shield=True):
            await self._process.aclose()


async def spawn_detached(
    runtime: SubprocessRuntime, spec: ExecSpec, plain: SpawnSpec, record: str
) -> DetachedProcess:
    """Start a command that outlives the host: `plain` is how it would be started as an ordinary one.

    Raises:
        DetachedUnsupported: the spec has secrets.
        InvalidRequest, ExecutorUnavailable: nothing was started.
    """
    if spec.environment.references:
        reason = "its output goes straight to a file, where secrets cannot be masked"
        raise DetachedUnsupported(
            f"the command uses secrets, and {reason}; start it as an ordinary job", reason=reason
        )
    changes = {
        "stdout": File(path=f"{record}.out"),
        "stderr": plain.stderr if isinstance(plain.stderr, SameAsStdout) else File(path=f"{record}.err"),
        "lifetime": DetachedLifetime(record=record),
    }
    try:
        process = await runtime.spawn(plain.model_copy(update=changes))
    except SubprocessError as error:
        raise translate(error, spec) from error
    return DetachedProcess(spec, process)


async def attach_detached(runtime: SubprocessRuntime, spec: ExecSpec, record: str) -> DetachedProcess | None:
    """Find a detached command again, or answer `None`."""
    try:
        return DetachedProcess(spec, await runtime.attach(record))
    except RecordUnusable:
        return None
