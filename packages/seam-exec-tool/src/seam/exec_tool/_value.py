"""The structured value of a call: every fact, for programs."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict

from seam.exec_def import (
    Containment,
    Drain,
    ExecResult,
    HookFailure,
    Limits,
    SandboxFacts,
    StreamOutput,
    Survivor,
    TimeSplit,
    Usage,
)
from seam.kernel import Value


class StreamValue(Value):
    """One stream: its text as kept, and what is missing of it."""

    model_config = ConfigDict(extra="ignore")

    text: str
    total_bytes: int
    kept: tuple[tuple[int, int], ...]
    truncated: bool
    losses: tuple[str, ...]
    decode_losses: int
    masked: int
    spill_path: str | None
    spill_bytes: int
    spill_digest: str | None

    @classmethod
    def of(cls, stream: StreamOutput) -> StreamValue:
        """From the executor's stream."""
        return cls.trusted(
            text=stream.text,
            total_bytes=stream.total,
            kept=tuple((part.start, part.end) for part in stream.kept),
            truncated=stream.truncated,
            losses=stream.losses,
            decode_losses=stream.decode_losses,
            masked=stream.masked,
            spill_path=stream.spill_path,
            spill_bytes=stream.spill_size,
            spill_digest=stream.spill_digest,
        )


class ShellValue(Value):
    """What became of a command, or the job that it became."""

    model_config = ConfigDict(extra="ignore")

    state: Literal["ended", "background"]
    job: str | None = None
    pid: int | None = None
    cause: str | None = None
    ended_by: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    aborted: bool = False
    lost_reason: str | None = None
    stdout: StreamValue | None = None
    stderr: StreamValue | None = None
    drain: Drain | None = None
    survivors: tuple[Survivor, ...] = ()
    containment: Containment | None = None
    sandbox: SandboxFacts | None = None
    started_at: datetime | None = None
    times: TimeSplit | None = None
    usage: Usage | None = None
    limits: Limits | None = None
    hook_failures: tuple[HookFailure, ...] = ()
    widening: Literal["granted", "already satisfied"] | None = None

    @classmethod
    def of(
        cls, result: ExecResult, *, job: str | None, widening: Literal["granted", "already satisfied"] | None
    ) -> ShellValue:
        """From a result; with `job` when the command was handed over alive."""
        return cls.trusted(
            state="background" if result.handed_over else "ended",
            job=job,
            cause=result.cause,
            ended_by=result.ended_by,
            exit_code=result.exit_code,
            signal=result.signal,
            timed_out=result.timed_out,
            aborted=result.aborted,
            lost_reason=result.lost_reason,
            stdout=StreamValue.of(result.stdout),
            stderr=StreamValue.of(result.stderr) if result.stderr is not None else None,
            drain=result.drain,
            survivors=result.survivors,
            containment=result.containment,
            sandbox=result.sandbox,
            started_at=result.started_at,
            times=result.times,
            usage=result.usage,
            limits=result.limits,
            hook_failures=result.hook_failures,
            widening=widening,
        )
