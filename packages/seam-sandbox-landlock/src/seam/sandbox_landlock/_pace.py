"""A pace that nobody can outrun: so many at once, then so many a second."""

from __future__ import annotations

import math

import anyio


class Pace:
    """Makes those wait who come too often, in the order in which they come.

    The generic cell rate algorithm (ITU-T I.371, annex A): one number says when the next one is due.

    Args:
        burst: how many may pass at once.
        rate: how many a second afterwards.
    """

    def __init__(self, burst: int, rate: float) -> None:
        self._gap = 1 / rate
        self._ahead = (burst - 1) * self._gap
        self._due = -math.inf

    async def take(self) -> None:
        """Pass, when it is time."""
        now = anyio.current_time()
        passes = max(self._due, now)
        self._due = passes + self._gap
        if passes - self._ahead > now:
            await anyio.sleep(passes - self._ahead - now)
