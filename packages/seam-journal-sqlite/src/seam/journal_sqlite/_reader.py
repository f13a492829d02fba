"""Reading from the file, in a worker thread, one question at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from anyio import CapacityLimiter, from_thread, to_thread

from seam.journal_sqlite._entries import entry_of
from seam.journal_sqlite._failure import translate
from seam.journal_sqlite._files import Files
from seam.journal_sqlite._request import encoded
from seam.journal_sqlite._rows import newest, rows_between
from seam.journal_sqlite._select import Parameters, entries_condition, summaries
from seam.journal_sqlite._verify import Verification
from seam.tools_def import Damage, Entry, JournalQuery, TurnSummary

PAGE = 100
"""Entries that are read at once, so that a long answer does not hold the reader."""

T = TypeVar("T")


class Reader:
    """Sees what is committed, by this process or another."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._one_at_a_time = CapacityLimiter(1)

    async def turn(self, turn: str, after: int) -> Sequence[Entry]:
        """The entries of a turn above a sequence number."""
        condition = "t.turn = :turn AND e.sequence > :after"
        parameters: Parameters = {"turn": encoded(turn), "after": after}
        found: list[Entry] = []
        place = 0
        while True:
            page, place, more = await self._ask(partial(self._page, condition, parameters, place, PAGE))
            found += page
            if not more:
                return tuple(found)

    async def page(self, query: JournalQuery, place: int, limit: int) -> tuple[Sequence[Entry], int, bool]:
        """Up to `limit` entries behind a place that match; the place behind them, and whether there may be more."""
        condition, parameters = entries_condition(query)
        return await self._ask(partial(self._page, condition, parameters, place, min(limit, PAGE)))

    async def summaries(self, query: JournalQuery) -> Sequence[TurnSummary]:
        """The turns that match, newest last."""
        return await self._ask(partial(summaries, self._files.reading, query))

    async def verify(self) -> Sequence[Damage]:
        """Everything that is not as it was written."""
        return await self._ask(self._verify)

    def _page(
        self, condition: str, parameters: Parameters, place: int, limit: int
    ) -> tuple[Sequence[Entry], int, bool]:
        connection = self._files.reading
        high = newest(connection)
        rows = rows_between(connection, condition, parameters, place, high, limit)
        entries = [entry_of(connection, self._files.values, row) for row in rows]
        more = len(rows) == limit
        return entries, rows[-1].id if more else max(high, place), more

    def _verify(self) -> Sequence[Damage]:
        look = Verification(
            self._files.reading, self._files.values, self._files.place.file, from_thread.check_cancelled
        )
        return tuple(look.damage())

    async def _ask(self, question: Callable[[], T]) -> T:
        try:
            return await to_thread.run_sync(question, limiter=self._one_at_a_time)
        except sqlite3.Error as error:
            raise translate(error, self._files.place.file) from error
