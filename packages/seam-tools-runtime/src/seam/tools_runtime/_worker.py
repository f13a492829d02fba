"""Foreign code in a task of its own, for one who waits for it and can go on without it."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup


class Deserted(Exception):
    """Code that was left behind goes on; it is stopped where it comes back to us."""


class Worker:
    """One task, bounded in phases by the one who waits for it: a single timer per wait, however many phases there are.

    When a phase's time is over, or somebody cancels it, the task is cancelled; when the grace is over too and it still runs, it
    is deserted. Nothing but this cancels the task: a write that must not be in doubt says so, and the cancellation waits for it.

    Attributes:
        reason: why it was cancelled, or None where its time was over.
        deserted: nobody waits for it any more; it must not do another thing.
        finished: its body ran to its end.
        failure: what its body raised.
        write_expired: the time of the phase was over while something was written.
    """

    __slots__ = (
        "_armed", "_body", "_done", "_expired", "_grace", "_limit", "_scope", "_shelter", "_told", "_waiting", "_writing",
        "deserted", "failure", "finished", "reason", "write_expired",
    )  # fmt: skip

    def __init__(self, body: Callable[[Worker], Awaitable[None]]) -> None:
        self._body = body
        self._scope = anyio.CancelScope(shield=True)
        self._done = anyio.Event()
        self._limit = (
            math.inf
        )  # of time.monotonic, as everything here: cheaper to ask than the event loop's clock
        self._grace = 0.0
        self._told = False  # that this phase is over
        self._expired = False  # whether any phase was
        self._armed = math.inf
        self._waiting: anyio.CancelScope | None = None
        self._writing = False
        self._shelter: anyio.CancelScope | None = None
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
        self._limit = time.monotonic() + seconds
        self._grace = grace
        self._told = False
        if self._limit < self._armed:
            self._rearm()

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
        if math.isinf(self._limit):
            self._limit, self._grace, self._told = time.monotonic(), grace, True
            self._rearm()

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

    def _expire(self) -> None:
        self._told = self._expired = True
        self.write_expired = self._writing
        self._scope.cancel()
        if self._shelter is not None:
            self._shelter.cancel()

    def _rearm(self) -> None:
        if self._waiting is not None:
            self._armed = self._limit + self._grace if self._told else self._limit
            self._waiting.deadline = anyio.current_time() + max(self._armed - time.monotonic(), 0)

    async def main(self, live: set[Worker]) -> None:
        """The task's body; whatever happens in it is kept as `failure`, so that no neighbour is cancelled for it."""
        try:
            with self._scope:
                await self._body(self)
                self.finished = True
        except (
            BaseException
        ) as failure:  # handed to the one who waits; a stray cancellation is foreign code's failure
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
            await self._wait()
        except anyio.get_cancelled_exc_class() as interrupted:
            self._waiting = None
            self.cancel("the caller was cancelled", grace)
            with anyio.CancelScope(shield=True):
                await self._wait()
            return interrupted
        return None

    async def _wait(self) -> None:
        while not self._done.is_set():
            self._armed = self._limit + self._grace if self._told else self._limit
            left = self._armed - time.monotonic()
            if left > 0:
                with anyio.CancelScope(deadline=anyio.current_time() + left) as self._waiting:
                    await self._done.wait()
                self._waiting = None
            elif self._told:
                self.deserted = True
                self._scope.cancel()
                return
            else:
                self._expire()


class Workers:
    """The owner of the tasks: a task group that lives as long as the plugin."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._live: set[Worker] = set()

    def start(self, body: Callable[[Worker], Awaitable[None]], *, seconds: float, grace: float) -> Worker:
        """Start a task in its first phase."""
        worker = Worker(body)
        worker.phase(seconds, grace)
        self._live.add(worker)
        self._tasks.start_soon(worker.main, self._live)
        return worker

    def stop(self, reason: str, grace: float) -> None:
        """Tell every task to stop; the task group waits for their end."""
        for worker in tuple(self._live):
            worker.cancel(reason, grace)

    async def bounded(self, step: Callable[[], Awaitable[None]], *, seconds: float, grace: float) -> None:
        """Run foreign code for at most so long.

        Raises:
            TimeoutError: it did not end in time; it has ended now, or it is left behind (the text says which).
            BaseException: what it raised.
        """

        async def body(worker: Worker) -> None:
            await step()

        worker = self.start(body, seconds=seconds, grace=grace)
        interrupted = await worker.wait(grace)
        if interrupted is not None:
            raise interrupted
        if worker.deserted:
            raise TimeoutError(
                f"did not end within {seconds:g} s, ignores its cancellation and was left behind"
            )
        if worker.failure is not None:
            raise worker.failure
        if not worker.finished:
            raise TimeoutError(worker.reason or f"did not end within {seconds:g} s")
