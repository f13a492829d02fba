"""The owner of the workers' tasks, who keeps the time for all of them."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup

from seam.tools_runtime._worker import Worker


class Workers:
    """Starts workers in a task group that lives as long as the plugin.

    One task keeps the time: it sleeps until the first worker is due. A worker that is due later than that costs it nothing, so
    calls that end in time set no timer at all.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._live: set[Worker] = set()
        self._next = math.inf
        self._changed = anyio.Event()
        self._stopping = False
        tasks.start_soon(self._keep_time)

    def start(self, body: Callable[[Worker], Awaitable[None]], *, seconds: float, grace: float) -> Worker:
        """Start a task in its first phase."""
        worker = Worker(body, self)
        worker.phase(seconds, grace)
        self._live.add(worker)
        self._tasks.start_soon(worker.main, self._live)
        return worker

    def remind(self, moment: float) -> None:
        """Look at the workers at this moment (`time.monotonic`) at the latest."""
        if moment < self._next:
            self._next = moment
            self._changed.set()

    def stop(self, reason: str, grace: float) -> None:
        """Tell every task to stop; the task group waits for their end. The time is kept until the last one has ended or is deserted."""
        self._stopping = True
        for worker in tuple(self._live):
            worker.cancel(reason, grace)
        self._changed.set()

    async def _keep_time(self) -> None:
        with anyio.CancelScope(shield=True):
            while self._live or not self._stopping:
                self._changed = anyio.Event()
                self._next = min((worker.due for worker in self._live), default=math.inf)
                left = self._next - time.monotonic()
                with anyio.CancelScope(deadline=anyio.current_time() + max(left, 0)):
                    await self._changed.wait()
                self._look()

    def _look(self) -> None:
        now = time.monotonic()
        for worker in tuple(self._live):
            if worker.due <= now:
                worker.time_is_up()
                if worker.deserted:
                    self._live.discard(worker)

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
