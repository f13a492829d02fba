"""Checking every chain, every record and every value file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from seam.journal_sqlite._entries import RecordUnreadable, whole_text
from seam.journal_sqlite._failure import is_damage
from seam.journal_sqlite._ledger import hash_text, time_of
from seam.journal_sqlite._links import FileState, link_of
from seam.journal_sqlite._request import decoded
from seam.journal_sqlite._rows import Row, rows_between
from seam.journal_sqlite._values import ValueFolder
from seam.tools_def import Damage, entry_hash

PAGE = 200
"""Entries that are read at once."""


@dataclass
class KnownTurn:
    """A turn's row."""

    ordinal: int
    turn: bytes
    anchor: bytes
    entries: int
    head: bytes
    state: bytes

    @property
    def place(self) -> str:
        """How damage names it."""
        return f"turn {shown(self.turn)}"


def shown(turn: bytes) -> str:
    """A turn's id on one line."""
    text = decoded(turn)
    return text if text.isprintable() else ascii(text)


class Verification:
    """One look at everything, in one snapshot of the file.

    Args:
        still_wanted: called now and then; may raise to give up.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        values: ValueFolder,
        file: Path,
        still_wanted: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._values = values
        self._file = file
        self._still_wanted = still_wanted

    def damage(self) -> Iterator[Damage]:
        """Everything that is not as it was written."""
        self._connection.execute("BEGIN")
        try:
            yield from self._structure()
            yield from self._contained(self._links, "the table of links")
            yield from self._contained(self._turns, "the table of turns")
            yield from self._contained(self._strays, "the table of entries")
        finally:
            self._connection.execute("ROLLBACK")

    def _contained(self, check: Callable[[], Iterator[Damage]], what: str) -> Iterator[Damage]:
        try:
            yield from check()
        except (sqlite3.DatabaseError, TypeError, AttributeError) as error:
            # a page that cannot be read, or a column of another type: found, the other checks go on
            if isinstance(error, sqlite3.Error) and not is_damage(error):
                raise
            yield Damage(place=str(self._file), problem=f"{what} cannot be read to its end ({error})")

    def _structure(self) -> Iterator[Damage]:
        try:
            for (finding,) in self._connection.execute("PRAGMA integrity_check"):
                if finding != b"ok":
                    yield Damage(place=str(self._file), problem=finding.decode("utf-8", "replace"))
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            yield Damage(place=str(self._file), problem=str(error))

    # -- the chain of the file

    def _links(self) -> Iterator[Damage]:
        state = FileState.load(self._connection)
        number, tip = state.base, state.base_link
        trimmed: tuple[int, bytes] | None = None
        opened: dict[bytes, int] = {}
        closed: dict[bytes, tuple[int, bytes]] = {}
        for found, kind, turn, entries, head, link in self._connection.execute(
            "SELECT number, kind, turn, entries, head, link FROM links ORDER BY number"
        ):
            place = f"file chain, link {found}"
            if found != number + 1:
                yield Damage(place=place, problem="links before it were removed")
            elif link != link_of(tip, found, kind.decode(), turn, entries, head):
                yield Damage(
                    place=place, problem=f"was changed, or one before it ({kind.decode()} {shown(turn)})"
                )
            number, tip = found, link
            match kind:
                case b"opened":
                    opened[turn] = found
                case b"closed":
                    closed[turn] = (entries, head)
                case b"forgotten":
                    opened.pop(turn, None)
                    closed.pop(turn, None)
                case _:
                    trimmed = (entries, head)
        if (number + 1, tip) != (state.next_link, state.tip):
            yield Damage(place="file chain, end", problem="the newest links were removed or changed")
        if (trimmed or (0, state.base_link)) != (state.base, state.base_link):
            yield Damage(
                place="file chain, beginning", problem="links were removed from the front, unrecorded"
            )
        yield from self._against_turns(opened, closed)

    def _against_turns(
        self, opened: dict[bytes, int], closed: dict[bytes, tuple[int, bytes]]
    ) -> Iterator[Damage]:
        left = dict(opened)
        for known in self._known_turns():
            ordinal = left.pop(known.turn, None)
            if ordinal is None:
                yield Damage(place=known.place, problem="the file chain does not know it")
            elif ordinal != known.ordinal:
                yield Damage(place=known.place, problem="stands in another place than the file chain says")
            if (known.turn in closed) != (known.state != b"open"):
                yield Damage(
                    place=known.place, problem="the file chain does not agree on whether it is closed"
                )
            elif known.turn in closed and closed[known.turn] != (known.entries, known.head):
                yield Damage(
                    place=known.place, problem="was changed after it was closed: the file chain knows its end"
                )
        for turn in left:
            yield Damage(place=f"turn {shown(turn)}", problem="was removed")

    # -- the chain of each turn

    def _known_turns(self) -> Iterator[KnownTurn]:
        for row in self._connection.execute(
            "SELECT ordinal, turn, anchor, entries, head, state FROM turns ORDER BY ordinal"
        ).fetchall():
            yield KnownTurn(*row)

    def _turns(self) -> Iterator[Damage]:
        # whatever was added from outside may stand behind what the journal thinks is its newest entry
        (highest,) = self._connection.execute(
            "SELECT max(s.next_entry - 1, (SELECT coalesce(max(id), 0) FROM entries)) FROM state s"
        ).fetchone()
        for known in self._known_turns():
            self._still_wanted()
            yield from self._turn(known, highest)

    def _turn(self, known: KnownTurn, highest: int) -> Iterator[Damage]:
        anchor = self._connection.execute(
            "SELECT link FROM links WHERE number = ?", (known.ordinal,)
        ).fetchone()
        if anchor is None or anchor[0] != known.anchor:
            yield Damage(place=known.place, problem="its anchor is not the one of the file chain")
        sequence, previous = 0, known.anchor
        for row in self._rows(known.ordinal, highest):
            place = f"{known.place}, sequence {row.sequence}"
            for missing in range(sequence, row.sequence):
                yield Damage(place=f"{known.place}, sequence {missing}", problem="was removed")
                previous = b""
            sequence = row.sequence + 1
            problem = self._problem(known, row, previous)
            if problem is not None:
                yield Damage(place=place, problem=problem)
            previous = row.hash
        for missing in range(sequence, known.entries):
            yield Damage(place=f"{known.place}, sequence {missing}", problem="was removed")
        if sequence > known.entries or (sequence == known.entries and previous != known.head):
            yield Damage(place=known.place, problem="its newest entry is not the one that was noted for it")

    def _rows(self, ordinal: int, highest: int) -> Iterator[Row]:
        low = 0
        while True:
            rows = rows_between(
                self._connection, "e.turn = :ordinal", {"ordinal": ordinal}, low, highest, PAGE
            )
            yield from rows
            if len(rows) < PAGE:
                return
            low = rows[-1].id

    def _problem(self, known: KnownTurn, row: Row, previous: bytes) -> str | None:
        try:
            text = whole_text(self._connection, self._values, row)
        except RecordUnreadable as error:
            return str(error)
        if previous and row.previous != previous:
            return "is not linked to the entry before it"
        computed = entry_hash(
            decoded(known.turn), row.sequence, time_of(row.time), text, hash_text(row.previous)
        )
        return None if computed == hash_text(row.hash) else "its content was changed"

    def _strays(self) -> Iterator[Damage]:
        for turn, count in self._connection.execute(
            "SELECT turn, count(*) FROM entries WHERE turn NOT IN (SELECT ordinal FROM turns) GROUP BY turn"
        ):
            yield Damage(
                place=f"entries of the turn opened by link {turn}",
                problem=f"{count} entries whose turn was removed",
            )
