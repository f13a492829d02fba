"""Foreign code in a task of its own, for one who waits for it and can go on without it."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio
import anyio.lowlevel


class Deserted(Exception):
    """Code that was left behind goes on; it is stopped where it comes back to us."""


class Timekeeper(Protocol):
    """Who looks at the time of all workers; see `Workers`."""

    def remind(self, moment: float) -> None:
        """Look at the workers at this moment (`time.monotonic`) at the latest."""
        ...


class Worker:
    """One task, bounded in phases.

    When a phase's time is over, or somebody cancels it, the task is cancelled; when the grace is over too and it still runs, it
    is deserted. Nothing but this cancels the task: a write that must not be in doubt says so, and the cancellation waits for it.

    Attributes:
        reason: why it was cancelled, or None where its time was over.
        due: when its timekeeper has to look at it, as `time.monotonic`, which is cheaper to ask than the event loop's clock.
        deserted: nobody waits for it any more; it must not do another thing.
        finished: its body ran to its end.
        failure: what its body raised.
        write_expired: the time of the phase was over while something was written.
    """

    __slots__ = (
        "_body", "_done", "_expired", "_grace", "_keeper", "_scope", "_shelter", "_told", "_writing",
        "deserted", "due", "failure", "finished", "reason", "write_expired",
    )  # fmt: skip

    def __init__(self, body: Callable[[Worker], Awaitable[None]], keeper: Timekeeper) -> None:
        self._body = body
        self._keeper = keeper
        self._scope = anyio.CancelScope(shield=True)
        self._done = anyio.Event()
        self._grace = 0.0
        self._told = False  # that this phase is over
        self._expired = False  # whether any phase was
        self._writing = False
        self._shelter: anyio.CancelScope | None = None
        self.due = math.inf
        self.reason: str | None = None
        self.deserted = False
        self.finished = False
        self.failure: BaseException | None = None
        self.write_expired = False

    @property
    def cancelled(self) -> bool:
        """Whether it was told to stop, by somebody or by its time."""
        return self._expired or self.reason is not None

    def phase(self, seconds: float, grace: float) -> None:
        """From now on it may take so long, and so much longer to end; `inf` means that nobody but its caller ends it.

        Raises:
            Deserted: nobody waits for it any more; it must not do another thing.
        """
        if self.deserted:
            raise Deserted
        self._grace = grace
        self._told = False
        self.due = time.monotonic() + seconds
        self._keeper.remind(self.due)

    async def check(self) -> None:
        """Raise its cancellation where it was told to stop; costs nothing where it was not."""
        if self.cancelled:
            await anyio.lowlevel.checkpoint()

    def cancel(self, reason: str, grace: float) -> None:
        """Tell it to stop. It is waited for until its phase's time and grace are over, without an own time for the grace."""
        if self.reason is None:
            self.reason = reason
            if not self._writing:
                self._scope.cancel()
        if math.isinf(self.due):
            self._told = True
            self.due = time.monotonic() + grace
            self._keeper.remind(self.due)

    async def write(self, append: Callable[[], Awaitable[object]]) -> None:
        """Write something that must not be left in doubt by a cancellation: that waits for it, as long as the phase lasts.

        Raises:
            TimeoutError: a task that was told to stop before wrote no longer than its phase allows.
        """
        self._writing = True
        try:
            if self._scope.cancel_called:
                # its own scope cancels whatever it awaits now, so what it has to write is put out of that scope's reach
                with anyio.CancelScope(shield=True) as self._shelter:
                    await append()
                if self._shelter.cancelled_caught:
                    raise TimeoutError
            else:
                await append()
        finally:
            self._shelter = None
            self._writing = False
            if self.reason is not None:
                self._scope.cancel()

    def time_is_up(self) -> None:
        """Told by the timekeeper: the phase is over, or the grace behind it."""
        if not self._told:
            self._told = self._expired = True
            self.due += self._grace
            self.write_expired = self._writing
        else:
            self.deserted = True
            self.due = math.inf
            self._done.set()
        self._scope.cancel()
        if self._shelter is not None:
            self._shelter.cancel()

    async def main(self, live: set[Worker]) -> None:
        """The task's body; whatever happens in it is kept as `failure`, so that no neighbour is cancelled for it."""
        try:
            with self._scope:
                await self._body(self)
                self.finished = True
        except (
            BaseException
        ) as failure:  # for the one who waits; a stray cancellation is foreign code's failure
            self.failure = failure
        finally:
            live.discard(self)
            self._done.set()

    async def wait(self, grace: float) -> BaseException | None:
        """Wait until it has ended, or is left behind (`deserted`).

        Returns the cancellation of the one who waits, where there was one: it has cancelled the worker, and has to be raised
        again as soon as everything is in order. `grace` bounds that wait in a phase without an end.
        """
        try:
            await self._done.wait()
        except anyio.get_cancelled_exc_class() as interrupted:
            self.cancel("the caller was cancelled", grace)
            with anyio.CancelScope(shield=True):
                await self._done.wait()
            return interrupted
        return None
