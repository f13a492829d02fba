"""A journal in memory: for trials, tests and hosts that keep no record beyond their life."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

import anyio
import anyio.lowlevel

from seam.tools_def import (
    Damage,
    Entry,
    Journal,
    JournalQuery,
    Record,
    TurnClosed,
    TurnClosedInJournal,
    TurnSummary,
    entry_hash,
    record_text,
)
from seam.tools_runtime._memory_entries import Stored, Thread, matches

DURABILITY = "nothing survives the process: acknowledged entries are in its memory only"


class MemoryJournal(Journal):
    """Keeps entries until the bound is reached; then the oldest closed turns are forgotten, each as a whole.

    Args:
        entries: how many entries are kept (turns that are open are kept beyond it).
    """

    def __init__(self, *, entries: int) -> None:
        self._bound = entries
        self._threads: dict[str, Thread] = {}
        self._log: list[Stored] = []
        self._forgotten = 0  # how many entries were taken from the front of the log
        self._head = _anchor("", "")
        self._arrived: anyio.Event | None = None  # made by those who follow

    @property
    def durability(self) -> str:
        return DURABILITY

    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        kept = self._append(turn, records)
        return tuple(stored.with_record(record) for stored, record in zip(kept, records, strict=True))

    async def write(self, turn: str, *records: Record) -> None:
        self._append(turn, records)

    def _append(self, turn: str, records: Sequence[Record]) -> Sequence[Stored]:
        thread = self._threads.get(turn)
        _check_open(turn, thread, records)
        texts = [
            record_text(record) for record in records
        ]  # everything that can fail is done before this line ends
        if not records:
            return ()
        if thread is None:
            thread = self._open(turn)
        time = datetime.now(UTC)
        if self._log and time < self._log[-1].time:
            time = self._log[-1].time  # the system's clock went back
        kept = [self._keep(thread, record, text, time) for record, text in zip(records, texts, strict=True)]
        if len(self._log) > self._bound:
            self._forget()
        if self._arrived is not None:
            self._arrived.set()
            self._arrived = None
        return kept

    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        await anyio.lowlevel.checkpoint_if_cancelled()
        thread = self._threads.get(turn)
        return tuple(stored.entry() for stored in thread.entries[max(after + 1, 0) :]) if thread else ()

    async def query(self, query: JournalQuery) -> AsyncIterator[Entry]:
        found = [stored for stored in self._log if matches(stored, query)][: query.limit]
        for stored in found:
            await anyio.lowlevel.checkpoint()
            yield stored.entry()

    async def follow(self, query: JournalQuery) -> AsyncIterator[Entry]:
        given = 0
        place = 0  # counted from the first entry ever
        while query.limit is None or given < query.limit:
            place = max(place, self._forgotten)  # one that is too slow misses what was forgotten meanwhile
            if place - self._forgotten >= len(self._log):
                self._arrived = self._arrived or anyio.Event()
                await self._arrived.wait()
                continue
            stored = self._log[place - self._forgotten]
            place += 1
            if matches(stored, query):
                given += 1
                yield stored.entry()

    async def turns(self, query: JournalQuery) -> Sequence[TurnSummary]:
        await anyio.lowlevel.checkpoint_if_cancelled()
        found = [
            summary
            for thread in self._threads.values()
            if thread.belongs(query) and thread.has_call(query) and (summary := thread.summary())
            if (query.since is None or summary.started >= query.since)
            and (query.until is None or summary.started < query.until)
        ]
        return tuple(found if query.limit is None else found[-query.limit :])

    async def verify(self) -> Sequence[Damage]:
        await anyio.lowlevel.checkpoint_if_cancelled()
        damage: list[Damage] = []
        anchor: str | None = None
        for thread in self._threads.values():
            if anchor is not None and thread.anchor != _anchor(anchor, thread.id):
                damage.append(Damage(place=f"turn {thread.id}", problem="a turn before it was removed"))
            anchor = thread.anchor
            damage += _check_thread(thread)
        if anchor is not None and anchor != self._head:
            damage.append(Damage(place="end", problem="the newest turn was removed"))
        return tuple(damage)

    def _open(self, turn: str) -> Thread:
        self._head = _anchor(self._head, turn)
        thread = self._threads[turn] = Thread(turn, self._head)
        return thread

    def _keep(self, thread: Thread, record: Record, text: str, time: datetime) -> Stored:
        sequence = len(thread.entries)
        previous = thread.entries[-1].hash if thread.entries else thread.anchor
        stored = Stored(
            turn=thread,
            sequence=sequence,
            time=time,
            text=text,
            previous=previous,
            hash=entry_hash(thread.id, sequence, time, text, previous),
            call=getattr(record, "call", None),
        )
        thread.note(record)
        thread.entries.append(stored)
        self._log.append(stored)
        return stored

    def _forget(self) -> None:
        # from the front only, so that what is left has an unbroken chain of anchors
        while len(self._log) > self._bound:
            oldest = next(iter(self._threads.values()))
            if oldest.closed is None:
                return
            del self._threads[oldest.id]
            before = len(self._log)
            self._log = [stored for stored in self._log if stored.turn is not oldest]
            self._forgotten += before - len(self._log)


def _check_open(turn: str, thread: Thread | None, records: Sequence[Record]) -> None:
    if thread is not None and thread.closed is not None and records:
        raise TurnClosedInJournal(
            f"turn {turn!r} has its terminal record ({thread.closed.how}); nothing can be appended behind it",
            turn=turn,
        )
    if any(isinstance(record, TurnClosed) for record in records[:-1]):
        raise TurnClosedInJournal(
            f"these records for turn {turn!r} go on behind a terminal one; append them before it", turn=turn
        )


def _check_thread(thread: Thread) -> list[Damage]:
    damage: list[Damage] = []
    previous = thread.anchor
    for place, stored in enumerate(thread.entries):
        where = f"turn {thread.id}, sequence {place}"
        if stored.sequence != place:
            damage.append(
                Damage(place=where, problem=f"has the number {stored.sequence}: entries were removed")
            )
        if stored.previous != previous:
            damage.append(Damage(place=where, problem="is not linked to the entry before it"))
        if stored.hash != entry_hash(thread.id, stored.sequence, stored.time, stored.text, stored.previous):
            damage.append(Damage(place=where, problem="its content was changed"))
        previous = stored.hash
    return damage


def _anchor(previous: str, turn: str) -> str:
    return "sha256:" + hashlib.sha256(json.dumps([previous, turn]).encode("ascii")).hexdigest()
