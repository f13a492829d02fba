"""Runs that must have ended at some moment."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seam.kernel._run import Run


class Overdue:
    """At most one moment for each run, on the event loop's clock."""

    def __init__(self) -> None:
        self._moments: list[tuple[float, int]] = []
        self._numbers = itertools.count()
        self._runs: dict[int, Run] = {}
        self._number_of: dict[Run, int] = {}

    def expect(self, run: Run, moment: float) -> None:
        """The run must have ended by then; an earlier expectation is void."""
        self.forget(run)
        number = next(self._numbers)
        self._runs[number] = run
        self._number_of[run] = number
        heapq.heappush(self._moments, (moment, number))

    def forget(self, run: Run) -> None:
        """The run has ended, or may take its time."""
        number = self._number_of.pop(run, None)
        if number is not None:
            del self._runs[number]

    def next_moment(self) -> float:
        """When to look next."""
        while self._moments and self._moments[0][1] not in self._runs:
            heapq.heappop(self._moments)
        return self._moments[0][0] if self._moments else float("inf")

    def at(self, now: float) -> Iterator[Run]:
        """Take out the runs whose moment has come."""
        while self.next_moment() <= now:
            run = self._runs[heapq.heappop(self._moments)[1]]
            self.forget(run)
            yield run
