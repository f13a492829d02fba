"""Waiting for a foreground command while its limits are enforced."""

from __future__ import annotations

import time

import anyio

from seam.exec_def import EndedBy, ExecSpec, StreamName
from seam.exec_local._running import Running
from seam.exec_local._verdict import Verdict
from seam.subprocess_def import ProcessExit


class Attendance:
    """One wait, without a task of its own: limits are the deadline of a scope, wishes to end cancel it.

    The first scope spans the start and the first wait, since scopes are not free. It is a shield until the start is over: a
    command that may have written already must not be dropped with its output because its handle was not here yet.
    """

    def __init__(self, spec: ExecSpec, *, guard: float) -> None:
        limits = spec.limits
        began = anyio.current_time()
        self.verdict = Verdict()
        self.running: Running | None = None
        """The command, as soon as it is started."""
        self.end: ProcessExit | None = None
        """How it ended; `None` while it runs, and when it is to be ended (`verdict.ender` says for whom)."""
        self.scope = anyio.CancelScope(deadline=began + limits.timeout, shield=True)
        self._names: tuple[StreamName, ...] = (
            ("stdout",) if spec.streams == "merged" else ("stdout", "stderr")
        )
        self._timeout_at = began + limits.timeout
        self._idle = limits.idle_timeout
        self._guard = guard
        self._tail = limits.drain + guard
        self._give_up_at: float | None = None

    def interrupt(self, ender: EndedBy, reason: str | None = None) -> None:
        """Stop waiting, since somebody wants the end; a start that is under way has the guard's time to be told."""
        self.verdict.blame(ender, reason)
        if self.running is None:
            self.scope.deadline = min(self.scope.deadline, anyio.current_time() + self._guard)
        else:
            self.scope.cancel()

    async def first(self, running: Running) -> None:
        """Wait inside the scope in which the command was started."""
        self.running = running
        self.scope.shield = False
        if self.verdict.ender is not None:
            return
        if self._idle is not None:
            self.scope.deadline = self._deadline(running)
        self.end = await running.process.wait()

    async def rest(self, running: Running) -> None:
        """Go on waiting as long as no limit has passed and nobody wants the end."""
        while self.end is None and self.verdict.ender is None:
            self._look(running)
            if self.verdict.ender is None:
                with anyio.CancelScope(deadline=self._deadline(running)) as self.scope:
                    self.end = await running.process.wait()

    def _deadline(self, running: Running) -> float:
        if self._give_up_at is not None:
            return self._give_up_at
        if self._idle is None:
            return self._timeout_at
        return min(self._timeout_at, anyio.current_time() + self._idle - self._silence(running))

    def _look(self, running: Running) -> None:
        """A deadline has passed: find out which."""
        now = anyio.current_time()
        if self._give_up_at is not None:
            self.verdict.blame("guard")
        elif running.process.leader_exited:
            # not too late: only the rest of the output is being read, which the runtime bounds
            self._give_up_at = now + self._tail
        elif now >= self._timeout_at:
            self.verdict.limit_passed = True
            self.verdict.blame("timeout")
        elif self._idle is not None and self._silence(running) >= self._idle:
            self.verdict.blame("idle")

    def _silence(self, running: Running) -> float:
        """Seconds since the last output, or since the start."""
        heard = [running.process.collected(name).last_output_at or running.started for name in self._names]
        return time.monotonic() - max(heard)
