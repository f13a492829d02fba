"""Foreign code in a task of its own, for one who waits for it and can go on without it."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup


class Deserted(Exception):
    """Code that was left behind goes on; it is stopped where it comes back to us."""


class Worker:
    """One task. It is bounded in phases; who waits is woken when a phase's time and grace are over and it still runs.

    Attributes:
        reason: why it was cancelled, or None where its time was over.
        deserted: nobody waits for it any more; it must not do another thing.
        finished: its body ran to its end.
        failure: what its body raised.
    """

    __slots__ = (
        "_abandon_at",
        "_body",
        "_done",
        "_scope",
        "_waiting",
        "deserted",
        "failure",
        "finished",
        "reason",
    )

    def __init__(self, body: Callable[[Worker], Awaitable[None]]) -> None:
        self._body = body
        self._scope = anyio.CancelScope()
        self._done = anyio.Event()
        self._abandon_at = math.inf
        self._waiting: anyio.CancelScope | None = None
        self.reason: str | None = None
        self.deserted = False
        self.finished = False
        self.failure: BaseException | None = None

    @property
    def cancelled(self) -> bool:
        """Whether it was told to stop, by somebody or by its time."""
        return self._scope.cancel_called

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._done.is_set()

    def phase(self, seconds: float, grace: float) -> None:
        """From now on it may take so long, and so much longer to end; `inf` means that nobody but its caller ends it.

        Raises:
            Deserted: nobody waits for it any more; it must not do another thing.
        """
        if self.deserted:
            raise Deserted
        deadline = anyio.current_time() + seconds
        self._scope.deadline = deadline
        self._bound(deadline + grace)

    def cancel(self, reason: str, grace: float) -> None:
        """Tell it to stop. It is waited for until its phase's time and grace are over, without an own time for the grace."""
        if not self._scope.cancel_called:
            self.reason = reason
            self._scope.cancel()
        if math.isinf(self._abandon_at):
            self._bound(anyio.current_time() + grace)

    def _bound(self, moment: float) -> None:
        self._abandon_at = moment
        if self._waiting is not None and self._waiting.deadline > moment:
            self._waiting.deadline = moment

    async def main(self) -> None:
        """The task's body; whatever happens in it is kept as `failure`, so that no neighbour is cancelled for it."""
        try:
            with self._scope:
                await self._body(self)
                self.finished = True
        except anyio.get_cancelled_exc_class() as stray:
            await anyio.lowlevel.checkpoint_if_cancelled()  # raises where the owner of the tasks is closing
            self.failure = stray  # foreign code cancelled itself: that is its failure
        except (
            BaseException
        ) as failure:  # handed to the one who waits; nothing else can know what to do with it
            self.failure = failure
        finally:
            self._done.set()

    async def wait(self, grace: float) -> BaseException | None:
        """Wait until it has ended, or is left behind (`deserted`).

        Returns the cancellation of the one who waits, where there was one: it has cancelled the worker, and has to be raised
        again as soon as everything is in order. `grace` bounds that wait in a phase without an end.
        """
        try:
            await self._wait()
        except anyio.get_cancelled_exc_class() as interrupted:
            self.cancel("the caller was cancelled", grace)
            with anyio.CancelScope(shield=True):
                await self._wait()
            return interrupted
        return None

    async def _wait(self) -> None:
        while not self._done.is_set() and not self.deserted:
            with anyio.CancelScope(deadline=self._abandon_at) as self._waiting:
                await self._done.wait()
            self._waiting = None
            if not self._done.is_set() and anyio.current_time() >= self._abandon_at:
                self.deserted = True
                self._scope.cancel()


class Workers:
    """The owner of the tasks: a task group that lives as long as the plugin."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks

    def start(self, body: Callable[[Worker], Awaitable[None]], *, seconds: float, grace: float) -> Worker:
        """Start a task in its first phase."""
        worker = Worker(body)
        worker.phase(seconds, grace)
        self._tasks.start_soon(worker.main)
        return worker

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
        if worker.cancelled or not worker.finished:
            raise TimeoutError(f"did not end within {seconds:g} s")
