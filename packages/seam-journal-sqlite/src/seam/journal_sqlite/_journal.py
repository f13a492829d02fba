"""The journal in one SQLite file."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

import anyio
import anyio.lowlevel
from anyio import to_thread

from seam.journal_sqlite._config import SqliteJournalConfig
from seam.journal_sqlite._files import Files
from seam.journal_sqlite._reader import PAGE, Reader
from seam.journal_sqlite._request import Request, draft
from seam.journal_sqlite._writer import Writer
from seam.tools_def import (
    Damage,
    Entry,
    Journal,
    JournalQuery,
    Record,
    TurnClosed,
    TurnClosedInJournal,
    TurnSummary,
)

T = TypeVar("T")

DURABILITY = (
    "an acknowledged entry survives the end of the process by any signal, and a crash of the system or a loss of power as far"
    " as the disk keeps what fsync(2) reported as written (SQLite, WAL, synchronous=FULL)"
)


async def _in_thread(work: Callable[[], T]) -> T:
    # shielded: what a thread opened must not be lost on the way back, what it closes must be closed
    with anyio.CancelScope(shield=True):
        return await to_thread.run_sync(work)
    raise AssertionError("a shielded scope that nobody cancels swallows nothing")


class SqliteJournal(Journal):
    """Made by `SqliteJournal.open`. Belongs to one event loop; several may be open on one file, in one process or in many."""

    def __init__(self, files: Files, config: SqliteJournalConfig) -> None:
        self._config = config
        self._reader = Reader(files)
        self._arrived = anyio.Event()
        self._writer = Writer(files, config.max_batch, self._announce)

    @staticmethod
    @asynccontextmanager
    async def open(config: SqliteJournalConfig) -> AsyncGenerator[SqliteJournal]:
        """Open it; the file is made or migrated where needed. Leaving waits for every append that was handed over.

        Raises:
            JournalUnavailable: it cannot be opened for writing.
            JournalCorrupt: it is not a journal, or too damaged to be opened.
            JournalTooNew: a newer version wrote it.
        """
        files = await _in_thread(partial(Files.open, config))
        try:
            await anyio.lowlevel.checkpoint()
            journal = SqliteJournal(files, config)
            try:
                yield journal
            finally:
                journal._writer.stop()
                await _in_thread(journal._writer.join)
        finally:
            await _in_thread(files.close)

    @property
    def durability(self) -> str:
        return DURABILITY

    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        await anyio.lowlevel.checkpoint_if_cancelled()
        if any(isinstance(record, TurnClosed) for record in records[:-1]):
            raise TurnClosedInJournal(
                f"these records for turn {turn!r} go on behind a terminal one; append them before it",
                turn=turn,
            )
        drafts = [draft(record, self._config.value_bytes) for record in records]
        if not drafts:
            return ()
        request = Request(turn, drafts, anyio.Event())
        self._writer.put(request)
        await request.done.wait()
        if request.error is not None:
            raise request.error
        return request.entries

    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        return await self._reader.turn(turn, after)

    async def query(self, query: JournalQuery) -> AsyncIterator[Entry]:
        left = query.limit
        place, more = 0, True
        while more and left != 0:
            page, place, more = await self._reader.page(query, place, PAGE if left is None else left)
            left = None if left is None else left - len(page)
            for entry in page:
                yield entry

    async def follow(self, query: JournalQuery) -> AsyncIterator[Entry]:
        left = query.limit
        place = 0
        while left != 0:
            arrived = self._arrived
            page, place, more = await self._reader.page(query, place, PAGE if left is None else left)
            left = None if left is None else left - len(page)
            for entry in page:
                yield entry
            if not more and left != 0:
                with anyio.move_on_after(self._config.poll):  # another process does not ring
                    await arrived.wait()

    async def turns(self, query: JournalQuery) -> Sequence[TurnSummary]:
        return await self._reader.summaries(query)

    async def verify(self) -> Sequence[Damage]:
        return await self._reader.verify()

    def _announce(self) -> None:
        arrived, self._arrived = self._arrived, anyio.Event()
        arrived.set()
