"""A tiny implementer of `exec`: it decides everything in `resolve`, runs in `run`, and says what it cannot promise."""

from __future__ import annotations

import posixpath
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import anyio
from pydantic import BaseModel, ConfigDict, Field

from seam.exec_def import (
    Abort,
    BadTimeout,
    Containment,
    Drain,
    ExecProcess,
    ExecRequest,
    ExecResult,
    ExecSpec,
    ExecutorFacts,
    ExecutorUnavailable,
    HandOver,
    InvalidCommand,
    Isolation,
    KeptRange,
    Limits,
    OutputWindow,
    Progress,
    SandboxFacts,
    Settled,
    ShellExecutor,
    StreamOutput,
    TimeSplit,
)
from seam.kernel import Context, plugin
from seam.subprocess_def import (
    Collect,
    Null,
    OwnedLifetime,
    Process,
    SameAsStdout,
    SpawnSpec,
    SubprocessRuntime,
)


class DirectConfig(BaseModel):
    """Everything that is tunable is here, validated, with its unit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    timeout: float = Field(default=60.0, gt=0)
    """Seconds, where a request says none; also the most that it may say."""
    grace: float = Field(default=2.0, gt=0)
    """Seconds between the polite signal and SIGKILL."""


class DirectExecutor(ShellExecutor):
    """Runs each command as `/bin/sh -c`, both streams in one, output in memory."""

    def __init__(self, runtime: SubprocessRuntime, config: DirectConfig) -> None:
        self._runtime = runtime
        self._config = config

    @property
    def facts(self) -> ExecutorFacts:
        return ExecutorFacts(
            executor="direct",
            version="1.0.0",
            dialect="sh",
            shell="/bin/sh",
            world_id=self._runtime.world_id,
            sandbox_mode="full-access",
            confines=False,
            workspace=self._runtime.cwd,
            max_timeout=self._config.timeout,
        )

    def resolve(self, request: ExecRequest) -> ExecSpec:
        """Decide everything; nothing has happened afterwards."""
        if not request.command.strip() or "\0" in request.command:
            raise InvalidCommand(
                "the command is empty or holds a NUL byte", position=max(request.command.find("\0"), 0)
            )
        timeout = request.timeout if request.timeout is not None else self._config.timeout
        if not timeout > 0:
            raise BadTimeout(f"timeout is {timeout}; it must be above zero", name="timeout", value=timeout)
        workspace = request.workspace or self._runtime.cwd
        return ExecSpec(
            executor="direct",
            executor_version="1.0.0",
            dialect="sh",
            command=request.command,
            argv=("/bin/sh", "-c", request.command),
            workdir=posixpath.normpath(posixpath.join(workspace, request.workdir or "")),
            environment={"PATH": "/usr/bin:/bin"},  # pyright: ignore[reportArgumentType] - frozen by validation
            stdin=request.stdin,
            streams="merged",
            limits=Limits(
                timeout=min(timeout, self._config.timeout),
                asked_timeout=timeout if timeout > self._config.timeout else None,
                grace=self._config.grace,
                drain=1.0,
            ),
            survivors="end",
            isolation=Isolation(mode="full-access"),
            output=request.output or OutputWindow(head=8192, tail=8192, spill=0),
        )

    async def run(
        self,
        spec: ExecSpec,
        *,
        abort: Abort | None = None,
        hand_over: HandOver | None = None,
        progress: Progress | None = None,
        settled: Settled | None = None,
    ) -> ExecResult:
        """Run to the end or the time limit; a time limit is a result, not an exception."""
        if not isinstance(spec, ExecSpec):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without a type checker
            raise TypeError(f"run takes a spec that resolve made, not a {type(spec).__name__}")
        started, clock = datetime.now(UTC), time.monotonic()
        async with await self._runtime.spawn(_spawn(spec)) as process:
            with anyio.move_on_after(spec.limits.timeout) as limit:
                await process.wait()
            ended = await process.terminate()
            output = _output(process, spec.output)
        timed_out = limit.cancelled_caught
        result = ExecResult(
            cause="timed_out" if timed_out else "signalled" if ended.signal else "exited",
            ended_by="timeout" if timed_out else "unknown" if ended.signal else "command",
            exit_code=ended.exit_code,
            signal=ended.signal,
            timed_out=timed_out,
            stdout=output,
            stderr=None,
            drain=Drain(clean=True),
            containment=Containment.model_validate(ended.containment.model_dump()),
            sandbox=SandboxFacts(mode="full-access"),
            started_at=started,
            times=TimeSplit(queue=0.0, spawn=0.0, run=time.monotonic() - clock, drain=0.0),
            limits=spec.limits,
        )
        if settled is not None:
            settled(result)
        return result

    async def start(self, spec: ExecSpec) -> ExecProcess:
        """Honest about what is not here, rather than pretending."""
        raise ExecutorUnavailable(
            "acme-exec-direct runs in the foreground only; use another executor for jobs"
        )


def _spawn(spec: ExecSpec) -> SpawnSpec:
    kept = spec.output.head + spec.output.tail
    return SpawnSpec(
        argv=spec.argv,
        cwd=spec.workdir,
        env={name: value for name, value in spec.environment.items() if isinstance(value, str)},
        stdin=Null(),
        stdout=Collect(max_bytes=kept, head_bytes=spec.output.head, spill_bytes=spec.output.spill),
        stderr=SameAsStdout(),
        grace=spec.limits.grace,
        drain=spec.limits.drain,
        survivors="end",
        lifetime=OwnedLifetime(),
    )


def _output(process: Process, window: OutputWindow) -> StreamOutput:
    stream = process.collected("stdout")
    parts = tuple(part for part in (stream.head(), stream.tail()) if part)
    return StreamOutput(
        parts=parts,
        kept=tuple(KeptRange(kept.start, kept.end) for kept in stream.summary().kept),
        total=stream.total,
        losses=() if sum(map(len, parts)) == stream.total else ("window",),
    )


@plugin(requires=[SubprocessRuntime], provides=[ShellExecutor], config=DirectConfig)
async def direct(ctx: Context, config: DirectConfig) -> AsyncIterator[None]:
    """Provides `exec`; whoever reads these lines knows what it needs and what it gives."""
    ctx.provide(ShellExecutor, DirectExecutor(ctx[SubprocessRuntime], config))
    yield
