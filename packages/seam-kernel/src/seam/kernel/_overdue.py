"""Runs that should have ended by now."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seam.kernel._run import Run


class Overdue:
    """Moments at which to look whether a run has ended. A run's own `abandon_at` may have moved on since."""

    def __init__(self) -> None:
        self._moments: list[tuple[float, int, Run]] = []
        self._numbers = itertools.count()  # so that equal moments never compare runs

    def expect(self, run: Run) -> None:
        """Look at a run when its time has come."""
        heapq.heappush(self._moments, (run.abandon_at, next(self._numbers), run))

    def next_moment(self) -> float:
        """When to look next, on the event loop's clock."""
        return self._moments[0][0] if self._moments else float("inf")

    def at(self, now: float) -> Iterator[Run]:
        """Runs whose time has come and that have not ended."""
        while self._moments and self._moments[0][0] <= now:
            run = heapq.heappop(self._moments)[2]
            if not run.over and run.abandon_at <= now:
                yield run
