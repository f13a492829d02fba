"""The executor: a fresh shell for each call, through whatever runtime the deployment has."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import anyio
from anyio.abc import TaskGroup

from seam.exec_def import (
    Abort,
    Cause,
    Containment,
    DetachedUnsupported,
    Drain,
    ExecError,
    ExecProcess,
    ExecRequest,
    ExecResult,
    ExecSpec,
    ExecutorClosed,
    ExecutorFacts,
    HandOver,
    Progress,
    SandboxFacts,
    Settled,
    ShellExecutor,
    TimeSplit,
)
from seam.exec_local._attendance import Attendance
from seam.exec_local._detached import DetachedProcess
from seam.exec_local._ledger import Ledger
from seam.exec_local._process import LocalProcess
from seam.exec_local._resolve import Resolver
from seam.exec_local._running import Running
from seam.exec_local._shield import shielded
from seam.exec_local._start import Starter
from seam.exec_local._streams import NOTHING
from seam.exec_local._verdict import Verdict
from seam.subprocess_def import Process, ProcessExit

_log = logging.getLogger("seam.exec")


class LocalExecutor(ShellExecutor):
    """Runs commands through a `SubprocessRuntime`; made by `opened`, which owns its tasks."""

    def __init__(self, facts: ExecutorFacts, resolver: Resolver, starter: Starter, tasks: TaskGroup) -> None:
        self._facts = facts
        self._resolver = resolver
        self._starter = starter
        self._tasks = tasks
        self._guard = resolver.config.guard
        self._ledger = Ledger()
        self._keepers: list[Process] = []
        self._detached: list[DetachedProcess] = []

    @property
    def facts(self) -> ExecutorFacts:
        """What this executor is."""
        return self._facts

    def resolve(self, request: ExecRequest) -> ExecSpec:
        """Decide everything, do nothing."""
        return self._resolver.resolve(request)

    async def run(
        self,
        spec: ExecSpec,
        *,
        abort: Abort | None = None,
        hand_over: HandOver | None = None,
        progress: Progress | None = None,
        settled: Settled | None = None,
    ) -> ExecResult:
        """Run in the foreground."""
        self._admit(spec)
        if abort is not None and abort.is_set:
            verdict = Verdict()
            verdict.blame("abort", abort.reason)
            return _told(settled, _unstarted(spec, verdict))
        attendance = Attendance(spec, guard=self._guard)
        token = self._ledger.enter(lambda: attendance.interrupt("disposal", "the executor is being disposed"))
        leave = (
            abort.subscribe(lambda: attendance.interrupt("abort", abort.reason))
            if abort is not None
            else None
        )
        try:
            return _told(settled, await self._attend(spec, attendance, hand_over, progress, settled))
        finally:
            if leave is not None:
                leave()
            self._ledger.leave(token)

    async def start(self, spec: ExecSpec) -> ExecProcess:
        """Run in the background."""
        self._admit(spec)
        scope = anyio.CancelScope()
        token = self._ledger.enter(scope.cancel)
        started: list[Running] = []
        try:
            with scope:
                started.append(await self._starter.start(spec, Verdict(), watched=True))
        finally:
            if not started:
                self._ledger.leave(token)
        if not started:
            raise self._closed()
        return self._in_background(started[0], token)

    async def start_detached(self, spec: ExecSpec, record: str) -> ExecProcess:
        """Run in the background, beyond the end of this host."""
        self._admit(spec)
        if self._facts.confines:
            reason = "a confined command ends with its host"
            raise DetachedUnsupported(f"{reason}; start it as an ordinary job", reason=reason)
        return self._watched(await self._starter.detach(spec, record))

    async def attach(self, spec: ExecSpec, record: str) -> ExecProcess | None:
        """Find a detached command again."""
        self._admit(spec)
        found = await self._starter.attach(spec, record)
        return None if found is None else self._watched(found)

    def _watched(self, process: DetachedProcess) -> DetachedProcess:
        self._detached.append(process)
        return process

    async def aclose(self) -> None:
        """End everything and wait until it is gone. Spill files belong to the runtime, which removes them with itself."""
        with anyio.CancelScope(shield=True):
            limit = self._resolver.config
            with anyio.move_on_after(limit.grace + limit.drain + 2 * self._guard):
                await self._ledger.close()
                while self._keepers:
                    await self._keepers.pop().aclose()
                while self._detached:
                    await self._detached.pop().aclose()

    # -- foreground --

    async def _attend(
        self,
        spec: ExecSpec,
        attendance: Attendance,
        hand_over: HandOver | None,
        progress: Progress | None,
        settled: Settled | None,
    ) -> ExecResult:
        verdict = attendance.verdict
        try:
            with attendance.scope:
                watched = hand_over is not None
                started = await self._starter.start(spec, verdict, watched=watched, progress=progress)
                await attendance.first(started)
            running = attendance.running
            if running is None:
                return _unstarted(spec, verdict)
            await attendance.rest(running)
            if attendance.end is None and hand_over is not None and verdict.ender in ("timeout", "idle"):
                taken = await self._offer(running, hand_over)
                if taken is not None:
                    return taken
            return await self._finish(running, attendance.end)
        except ExecError:
            # before the start, or the wrapping found that the command was never started: nothing is running
            if attendance.running is not None:
                await shielded(attendance.running.process.aclose())
            raise
        except Exception as error:
            if attendance.running is None:
                raise
            return await shielded(self._lost(attendance.running, error))
        except BaseException:
            if attendance.running is not None:
                verdict.blame("cancellation", "the waiting task was cancelled")
                _told(settled, await shielded(self._finish(attendance.running, attendance.end)))
            raise

    async def _offer(self, running: Running, hand_over: HandOver) -> ExecResult | None:
        """Offer the live process to `hand_over`; return the record of the moment if it was taken."""
        process = LocalProcess(running)
        running.handle = process  # whoever has it is told how it ends, unless it goes on
        taken = False
        with anyio.move_on_after(running.spec.limits.grace):
            try:
                taken = await hand_over(process)
            except Exception as error:
                # a caller's failure must not keep the command alive; it is in the result
                running.hook_failed("hand_over", error)
        if not taken:
            return None
        record = running.snapshot(running.verdict.cause, "nobody")
        running.verdict.lift()
        running.handle = None
        self._in_background(running, self._ledger.enter(lambda: None), process)
        return record

    async def _finish(self, running: Running, end: ProcessExit | None) -> ExecResult:
        """End what is not over, make the record, let go of the process."""
        if end is None:
            end = await self._end(running)
        if end is None:
            cause: Cause = "timed_out" if running.verdict.limit_passed else "lost"
            reason = "what runs processes did not answer within its own bounds; it was given up"
            return self._give_up(running, running.snapshot(cause, "guard", lost_reason=reason))
        result = await running.conclude(end)
        running.tell(result)
        if any(survivor.fate == "kept" for survivor in result.survivors):
            self._keepers.append(running.process)
        else:
            await running.process.aclose()
        return result

    async def _lost(self, running: Running, error: Exception) -> ExecResult:
        """The runtime failed while the command ran: end what can be ended, and say what is known."""
        running.verdict.blame("guard")
        await self._end(running)
        reason = f"{type(error).__name__}: {error}"
        return self._give_up(running, running.snapshot("lost", "unknown", lost_reason=reason))

    def _give_up(self, running: Running, record: ExecResult) -> ExecResult:
        """Leave a process that does not end to the disposal."""
        self._keepers.append(running.process)
        running.tell(record)
        return record

    async def _end(self, running: Running) -> ProcessExit | None:
        """End the tree; `None` when the runtime does not keep its bounds. Its task stays with the executor."""
        done = anyio.Event()
        ends: list[ProcessExit] = []

        async def terminate() -> None:
            try:
                ends.append(await running.process.terminate())
            except Exception:  # the runtime's failure; the record says that the end is not known
                _log.exception("ending a command failed")
            finally:
                done.set()

        limits = running.spec.limits
        self._tasks.start_soon(terminate)
        with anyio.move_on_after(limits.grace + limits.drain + self._guard):
            await done.wait()
        return ends[0] if ends else None

    # -- background --

    def _in_background(
        self, running: Running, token: object, process: LocalProcess | None = None
    ) -> LocalProcess:
        process = process or LocalProcess(running)

        async def watch() -> None:
            try:
                await process.watch()
            finally:
                self._ledger.leave(token)

        async def terminate() -> None:
            try:
                await running.process.terminate()
            except Exception:  # as in `_end`; the watch makes the record
                _log.exception("ending a command failed")

        def end() -> None:
            running.verdict.blame("disposal", "the executor is being disposed")
            self._tasks.start_soon(terminate)

        self._tasks.start_soon(watch)
        self._ledger.update(token, end)
        return process

    def _admit(self, spec: ExecSpec) -> None:
        if not isinstance(spec, ExecSpec):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
            raise TypeError(
                f"an executor runs an ExecSpec, not {type(spec).__name__}; call resolve(request) first"
            )
        if spec.executor != self._facts.executor:
            raise TypeError(
                f"this spec was resolved by the executor {spec.executor!r}, and this is {self._facts.executor!r}; resolve it here"
            )
        if self._ledger.closing:
            raise self._closed()

    def _closed(self) -> ExecutorClosed:
        name = self._facts.executor
        return ExecutorClosed(f"the executor {name!r} is being disposed; nothing was started", executor=name)


@asynccontextmanager
async def opened(
    facts: ExecutorFacts, resolver: Resolver, starter: Starter
) -> AsyncGenerator[LocalExecutor, None]:
    """Own an executor for a block; afterwards nothing that it started is running."""
    async with anyio.create_task_group() as tasks:
        executor = LocalExecutor(facts, resolver, starter, tasks)
        try:
            yield executor
        finally:
            await executor.aclose()
            tasks.cancel_scope.cancel()


def _told(settled: Settled | None, result: ExecResult) -> ExecResult:
    if settled is not None:
        try:
            settled(result)
        except Exception:  # the caller's own code; the result stands
            _log.exception("a callback for settled commands raised")
    return result


def _unstarted(spec: ExecSpec, verdict: Verdict) -> ExecResult:
    """The record of a command of which nothing was started, as far as anybody knows."""
    if verdict.ender is None:
        verdict.limit_passed = True
        verdict.blame("guard")
    return ExecResult(
        cause=verdict.cause,
        ended_by=verdict.ender or "guard",
        exit_code=None,
        signal=None,
        timed_out=verdict.limit_passed,
        aborted=verdict.cause == "aborted",
        abort_reason=verdict.reason,
        stdout=NOTHING,
        stderr=None if spec.streams == "merged" else NOTHING,
        drain=Drain(clean=True),
        containment=Containment(
            level="not started",
            whole_tree=False,
            host_death=False,
            gaps=("nothing is known to have started",),
        ),
        sandbox=SandboxFacts(mode=spec.isolation.mode),
        started_at=datetime.now(UTC),
        times=TimeSplit(queue=0.0, spawn=0.0, run=0.0, drain=0.0),
        limits=spec.limits,
    )
