"""The chain of the file: every turn that is opened, closed or forgotten is a link, bound to all links before it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import dataclass
from typing import Literal

LinkKind = Literal["opened", "closed", "forgotten", "trimmed"]


@dataclass
class FileState:
    """The one row of the table `state`.

    Attributes:
        next_entry: id of the next entry; ids have the order of time.
        last_time: of the newest entry, microseconds since 1970 in UTC.
        bytes: what records and values weigh.
        next_link: number of the next link.
        tip: the newest link.
        base: number of the newest link that was trimmed; 0 where none was.
        base_link: that link, or the seed of the file.
    """

    next_entry: int
    last_time: int
    bytes: int
    next_link: int
    tip: bytes
    base: int
    base_link: bytes

    @staticmethod
    def load(connection: sqlite3.Connection) -> FileState:
        """Read it; inside a transaction, so that it stays true.

        Raises:
            sqlite3.DatabaseError: it is not there.
        """
        row = connection.execute(
            "SELECT next_entry, last_time, bytes, next_link, tip, base, base_link FROM state"
        ).fetchone()
        if row is None:
            raise sqlite3.DatabaseError("its table of state is empty")
        return FileState(*row)

    def save(self, connection: sqlite3.Connection) -> None:
        """Write it."""
        connection.execute(
            "UPDATE state SET next_entry = ?, last_time = ?, bytes = ?, next_link = ?, tip = ?, base = ?, base_link = ?",
            (
                self.next_entry,
                self.last_time,
                self.bytes,
                self.next_link,
                self.tip,
                self.base,
                self.base_link,
            ),
        )

    def add_link(
        self, connection: sqlite3.Connection, kind: LinkKind, turn: bytes, entries: int, head: bytes
    ) -> tuple[int, bytes]:
        """Append a link; its number and value."""
        number = self.next_link
        self.tip = link_of(self.tip, number, kind, turn, entries, head)
        self.next_link += 1
        connection.execute(
            "INSERT INTO links VALUES (?, ?, ?, ?, ?, ?)", (number, kind, turn, entries, head, self.tip)
        )
        return number, self.tip


def link_of(previous: bytes, number: int, kind: str, turn: bytes, entries: int, head: bytes) -> bytes:
    """SHA-256 that binds one link to all before it.

    Args:
        previous: the link before it; for the first one the seed of the file.
        number: 1-based.
        kind: `opened`; `closed` and `forgotten` with the turn's number of entries and newest hash; `trimmed` with the
            number and value of the newest link that was taken from the front.
    """
    text = json.dumps([previous.hex(), number, kind, turn.hex(), entries, head.hex()])
    return hashlib.sha256(text.encode("ascii")).digest()
