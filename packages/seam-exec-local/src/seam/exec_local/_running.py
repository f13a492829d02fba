"""A command between its start and its record."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Protocol

from seam.exec_def import (
    Cause,
    Containment,
    Drain,
    EndedBy,
    ExecResult,
    ExecSpec,
    HookFailure,
    ProcessRef,
    SandboxFacts,
    StreamName,
    StreamOutput,
    Survivor,
    TimeSplit,
    Usage,
)
from seam.exec_local._shield import shielded
from seam.exec_local._streams import view
from seam.exec_local._tap import Tap
from seam.exec_local._verdict import Verdict
from seam.exec_local._wrapper import Ending, Wrapped
from seam.subprocess_def import Process, ProcessExit


class Handle(Protocol):
    """Whoever is told the record."""

    def settle(self, result: ExecResult) -> None:
        """Take the record, which is final."""
        ...


class Running:
    """A started command: its process, its taps, and who wants it to end."""

    def __init__(
        self,
        spec: ExecSpec,
        process: Process,
        wrapped: Wrapped,
        taps: Mapping[StreamName, Tap],
        failures: list[HookFailure],
        verdict: Verdict,
        *,
        called: float,
        began: float,
        started: float,
    ) -> None:
        self.spec = spec
        self.process = process
        self.taps = taps
        self.failures = failures
        self.verdict = verdict
        self.handle: Handle | None = None
        """Somebody outside who has this command in hands and is to be told how it ends."""
        self._wrapped = wrapped
        self._record: ExecResult | None = None
        held = process.containment
        # made here, while the command runs, since making values takes time that nobody should wait for
        self._containment = Containment.trusted(
            level=held.level, whole_tree=held.whole_tree, host_death=held.host_death, gaps=held.gaps
        )
        self._queue = began - called
        self._spawn = started - began
        self.started = started

    def tell(self, result: ExecResult) -> None:
        """Tell whoever has the command in hands how it ended."""
        if self.handle is not None:
            self.handle.settle(result)

    def hook_failed(self, hook: str, error: Exception) -> None:
        """Put the failure of something that a caller supplied on record."""
        self.failures.append(HookFailure(hook=hook, error=f"{type(error).__name__}: {error}"))

    def output(self, name: StreamName, *, clean: bool = False) -> StreamOutput:
        """What a stream has so far; `clean` if it has reached its end by itself."""
        tap = self.taps.get(name)
        return view(self.process.collected(name), self.spec.output, tap.masked if tap else 0, clean=clean)

    async def conclude(self, end: ProcessExit) -> ExecResult:
        """Settle the wrapping and make the record; made once, and not interrupted by a cancellation."""
        if self._record is None:
            settled = self._conclude(end)
            self._record = await (settled if self._wrapped.instant else shielded(settled))
        return self._record

    async def _conclude(self, end: ProcessExit) -> ExecResult:
        stdout, stderr = self._outputs(clean=end.drain.state == "clean")
        ending = await self._wrapped.settle(self.process, end, (stderr or stdout).data)
        cause, ended_by = self._verdict(end, ending)
        return self._result(
            cause=cause,
            ended_by=ended_by,
            started_at=end.started_at,
            exit_code=ending.exit_code,
            signal=ending.signal,
            lost_reason=ending.unknown if cause == "lost" else None,
            stdout=stdout,
            stderr=stderr,
            drain=_drain(end),
            survivors=(
                *(Survivor.trusted(pid=one.pid, name=one.name, fate=one.fate) for one in end.survivors),
                *ending.survivors,
            ),
            sandbox=ending.sandbox,
            times=TimeSplit.trusted(
                queue=self._queue, spawn=self._spawn, run=end.run_seconds, drain=end.drain.seconds
            ),
            usage=_usage(end),
        )

    def snapshot(self, cause: Cause, ended_by: EndedBy, *, lost_reason: str | None = None) -> ExecResult:
        """Make the record of a command whose end is not known: it was handed over, or its runtime was given up."""
        stdout, stderr = self._outputs(clean=False)
        return self._result(
            cause=cause,
            ended_by=ended_by,
            started_at=datetime.now(UTC) - timedelta(seconds=time.monotonic() - self.started),
            exit_code=None,
            signal=None,
            lost_reason=lost_reason,
            stdout=stdout,
            stderr=stderr,
            drain=Drain(clean=False, streams=("stdout",) if stderr is None else ("stdout", "stderr")),
            survivors=(),
            sandbox=self.sandbox(),
            times=TimeSplit(
                queue=self._queue, spawn=self._spawn, run=time.monotonic() - self.started, drain=0.0
            ),
            usage=Usage(),
            handed_over=ended_by == "nobody",
        )

    def sandbox(self) -> SandboxFacts:
        """The confinement under which the command runs, as far as it is known now."""
        return self._wrapped.sandbox()

    def _outputs(self, *, clean: bool) -> tuple[StreamOutput, StreamOutput | None]:
        stdout = self.output("stdout", clean=clean)
        return stdout, None if self.spec.streams == "merged" else self.output("stderr", clean=clean)

    def _verdict(self, end: ProcessExit, ending: Ending) -> tuple[Cause, EndedBy]:
        ender = self.verdict.ender
        if end.termination is not None and ender is None:
            return "aborted", "disposal"
        if end.termination is not None and ender is not None and ender != "guard":
            return self.verdict.cause, ender
        if ending.unknown is not None:
            return "lost", "unknown"
        if ending.signal is not None:
            return "signalled", "guard" if ender == "guard" else "unknown"
        return "exited", "guard" if ender == "guard" else "command"

    def _result(
        self,
        *,
        cause: Cause,
        ended_by: EndedBy,
        started_at: datetime,
        exit_code: int | None,
        signal: str | None,
        lost_reason: str | None,
        stdout: StreamOutput,
        stderr: StreamOutput | None,
        drain: Drain,
        survivors: tuple[Survivor, ...],
        sandbox: SandboxFacts,
        times: TimeSplit,
        usage: Usage,
        handed_over: bool = False,
    ) -> ExecResult:
        return ExecResult.trusted(
            cause=cause,
            ended_by=ended_by,
            exit_code=exit_code,
            signal=signal,
            timed_out=self.verdict.limit_passed,
            aborted=cause == "aborted",
            abort_reason=self.verdict.reason if cause == "aborted" else None,
            handed_over=handed_over,
            lost_reason=lost_reason,
            stdout=stdout,
            stderr=stderr,
            drain=drain,
            survivors=survivors,
            containment=self._containment,
            sandbox=sandbox,
            started_at=started_at,
            times=times,
            usage=usage,
            limits=self.spec.limits,
            hook_failures=tuple(self.failures),
        )


def _drain(end: ProcessExit) -> Drain:
    if end.drain.state == "clean":
        return _CLEAN
    return Drain(
        clean=False,
        streams=end.drain.streams,
        held_by=tuple(ProcessRef(pid=one.pid, name=one.name) for one in end.survivors),
    )


def _usage(end: ProcessExit) -> Usage:
    if end.usage is None:
        return Usage()
    return Usage.trusted(
        cpu_user=end.usage.user_seconds,
        cpu_system=end.usage.system_seconds,
        peak_memory=end.usage.peak_memory_bytes,
    )


_CLEAN = Drain(clean=True)
