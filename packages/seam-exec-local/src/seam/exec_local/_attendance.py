"""Waiting for a foreground command while its limits are enforced."""

from __future__ import annotations

import time

import anyio

from seam.exec_def import EndedBy, StreamName
from seam.exec_local._running import Running
from seam.subprocess_def import ProcessExit


class Attendance:
    """One wait, without a task of its own: limits are the deadline of a scope, wishes to end cancel it."""

    def __init__(self, running: Running, *, began: float, guard: float) -> None:
        limits = running.spec.limits
        self._running = running
        self._timeout_at = began + limits.timeout
        self._idle = limits.idle_timeout
        self._tail = limits.drain + guard
        self._give_up_at: float | None = None
        self._scope: anyio.CancelScope | None = None

    def interrupt(self, ender: EndedBy, reason: str | None = None) -> None:
        """Stop waiting, since somebody wants the end."""
        self._running.blame(ender, reason)
        if self._scope is not None:
            self._scope.cancel()

    async def wait(self) -> ProcessExit | None:
        """Return how the command ended; `None` when it is to be ended, and `running.ender` says for whom."""
        while self._running.ender is None:
            with anyio.CancelScope(deadline=self._deadline()) as self._scope:
                return await self._running.process.wait()
            if self._running.ender is None:
                self._look(anyio.current_time())
        return None

    def _deadline(self) -> float:
        if self._give_up_at is not None:
            return self._give_up_at
        if self._idle is None:
            return self._timeout_at
        return min(self._timeout_at, anyio.current_time() + self._idle - self._silence())

    def _look(self, now: float) -> None:
        """A deadline has passed: find out which."""
        running = self._running
        if self._give_up_at is not None:
            running.blame("guard")
        elif running.process.leader_exited:
            # not too late: only the rest of the output is being read, which the runtime bounds
            self._give_up_at = now + self._tail
        elif now >= self._timeout_at:
            running.limit_passed = True
            running.blame("timeout")
        elif self._idle is not None and self._silence() >= self._idle:
            running.blame("idle")

    def _silence(self) -> float:
        """Seconds since the last output, or since the start."""
        names: tuple[StreamName, ...] = (
            ("stdout",) if self._running.spec.streams == "merged" else ("stdout", "stderr")
        )
        heard = [
            self._running.process.collected(name).last_output_at or self._running.started for name in names
        ]
        return time.monotonic() - max(heard)
