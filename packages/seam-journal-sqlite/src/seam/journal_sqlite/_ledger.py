"""Appending inside a transaction: places, hashes, links. Lives in the writer's thread only."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from seam.journal_sqlite._links import FileState
from seam.journal_sqlite._presence import Presence
from seam.journal_sqlite._request import Batch, Draft, OpenTurn, Request, encoded
from seam.journal_sqlite._values import ValueFolder
from seam.tools_def import (
    CallRequested,
    CallSettled,
    Entry,
    JournalError,
    TurnClosed,
    TurnClosedInJournal,
    TurnOpened,
    entry_hash,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def micros(time: datetime) -> int:
    """Microseconds since 1970, exact."""
    return (time - EPOCH) // MICROSECOND


def time_of(stored: int) -> datetime:
    """The time, in UTC."""
    return EPOCH + stored * MICROSECOND


def hash_text(stored: bytes) -> str:
    """A hash as `Entry` has it."""
    return "sha256:" + stored.hex()


def hash_bytes(text: str) -> bytes:
    """A hash as the file has it."""
    return bytes.fromhex(text.removeprefix("sha256:"))


class Ledger:
    """Knows the turns of this writer; another process appends to turns of its own only."""

    def __init__(self, connection: sqlite3.Connection, presence: Presence, values: ValueFolder) -> None:
        self._connection = connection
        self._presence = presence
        self._values = values
        self._turns: dict[str, OpenTurn] = {}

    def commit(self, requests: Sequence[Request]) -> None:
        """Append all of them in one transaction; durable when this returns. What is refused gets its error, the others their entries.

        Raises:
            sqlite3.Error, OSError: nothing of it was appended.
        """
        self._keep_values(requests)
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._keep_values(requests)  # what was forgotten between the two is written again
            state = FileState.load(self._connection)
            batch = Batch()
            answers = [self._answer(request, state, batch) for request in requests]
            self._write(batch)
            state.save(self._connection)
            self._connection.execute("COMMIT")
        except BaseException:
            self._turns.clear()  # read again when they are needed
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        for request, answer in zip(requests, answers, strict=True):
            if isinstance(answer, JournalError):
                request.error = answer
            else:
                request.entries = answer

    def _keep_values(self, requests: Sequence[Request]) -> None:
        for request in requests:
            for each in request.drafts:
                for value in each.moved:
                    self._values.keep(value)

    def _answer(
        self, request: Request, state: FileState, batch: Batch
    ) -> tuple[Entry, ...] | TurnClosedInJournal:
        time = max(micros(datetime.now(UTC)), state.last_time)  # the system's clock may go back
        state.last_time = time
        try:
            turn = self._turns.get(request.turn) or self._find(request.turn, time, state)
        except TurnClosedInJournal as refused:
            return refused
        self._turns[request.turn] = batch.touched[request.turn] = turn
        return tuple(self._add(request.turn, turn, each, time, state, batch) for each in request.drafts)

    def _find(self, turn: str, time: int, state: FileState) -> OpenTurn:
        row = self._connection.execute(
            "SELECT ordinal, entries, head, bytes, state, writer FROM turns WHERE turn = ?", (encoded(turn),)
        ).fetchone()
        if row is None:
            return self._open(turn, time, state)
        ordinal, entries, head, weight, how, writer = row
        if how != b"open":
            raise TurnClosedInJournal(
                f"turn {turn!r} has its terminal record ({how.decode()}); nothing can be appended behind it",
                turn=turn,
            )
        if self._presence.alive(writer.decode()):
            if writer.decode() != self._presence.writer:
                raise TurnClosedInJournal(
                    f"turn {turn!r} belongs to another writer of this journal; open a turn of your own",
                    turn=turn,
                )
        else:
            self._connection.execute(
                "UPDATE turns SET writer = ? WHERE ordinal = ?", (self._presence.writer, ordinal)
            )
        return OpenTurn(ordinal, entries, head, weight)

    def _open(self, turn: str, time: int, state: FileState) -> OpenTurn:
        ordinal, anchor = state.add_link(self._connection, "opened", encoded(turn), 0, b"")
        self._connection.execute(
            "INSERT INTO turns VALUES (?, ?, ?, ?, 0, ?, 0, ?, NULL, 'open', NULL, NULL)",
            (ordinal, encoded(turn), self._presence.writer, anchor, anchor, time),
        )
        return OpenTurn(ordinal, 0, anchor, 0)

    def _add(
        self, name: str, turn: OpenTurn, each: Draft, time: int, state: FileState, batch: Batch
    ) -> Entry:
        record = each.record
        previous = hash_text(turn.head)
        moment = time_of(time)
        hashed = entry_hash(name, turn.entries, moment, each.text, previous)
        entry = Entry.model_construct(
            turn=name, sequence=turn.entries, time=moment, record=record, previous=previous, hash=hashed
        )
        head = hash_bytes(hashed)
        call = getattr(record, "call", None)
        batch.entries.append(
            (
                state.next_entry, turn.ordinal, turn.entries, time, record.kind,
                None if call is None else encoded(call),
                encoded(record.tool) if isinstance(record, (CallRequested, CallSettled)) else None,
                record.outcome.kind if isinstance(record, CallSettled) else None,
                turn.head, head, len(each.moved), each.stored,
            )
        )  # fmt: skip
        batch.values += [(state.next_entry, value.place, value.digest) for value in each.moved]
        turn.entries += 1
        turn.head = head
        turn.bytes += each.weight
        state.bytes += each.weight
        state.next_entry += 1
        if isinstance(record, TurnOpened):
            self._connection.execute(
                "UPDATE turns SET agent = ?, session = ? WHERE ordinal = ?",
                (encoded(record.agent), encoded(record.session), turn.ordinal),
            )
        elif isinstance(record, TurnClosed):
            self._close(name, turn, record, time, state)
        return entry

    def _close(self, name: str, turn: OpenTurn, record: TurnClosed, time: int, state: FileState) -> None:
        state.add_link(self._connection, "closed", encoded(name), turn.entries, turn.head)
        self._connection.execute(
            "UPDATE turns SET state = ?, ended = ? WHERE ordinal = ?", (record.how, time, turn.ordinal)
        )
        del self._turns[name]

    def _write(self, batch: Batch) -> None:
        self._connection.executemany(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", batch.entries
        )
        self._connection.executemany("INSERT INTO moved_values VALUES (?, ?, ?)", batch.values)
        self._connection.executemany(
            "UPDATE turns SET entries = ?, head = ?, bytes = ? WHERE ordinal = ?",
            [(turn.entries, turn.head, turn.bytes, turn.ordinal) for turn in batch.touched.values()],
        )
