"""Reading entries, around what cannot be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from seam.journal_sqlite._failure import is_damage

COLUMNS = """
    e.id, t.turn, e.sequence, e.time, e.call, e.previous, e.hash, e.moved, e.record
    FROM entries e JOIN turns t ON t.ordinal = e.turn
"""


class Row(NamedTuple):
    """An entry as the file has it; `record` is None where its page cannot be read."""

    id: int
    turn: bytes
    sequence: int
    time: int
    call: bytes | None
    previous: bytes
    hash: bytes
    moved: int
    record: object


def rows_between(
    connection: sqlite3.Connection,
    where: str,
    parameters: Mapping[str, object],
    low: int,
    high: int,
    limit: int,
) -> Sequence[Row]:
    """The first `limit` entries with `low < id <= high` that fulfil a condition, in the order of their ids.

    A damaged page takes its own entries only: they come as rows without a record, known from the index.
    """
    try:
        found = connection.execute(
            f"SELECT {COLUMNS} WHERE e.id > :low AND e.id <= :high AND ({where}) ORDER BY e.id LIMIT :limit",
            {**parameters, "low": low, "high": high, "limit": limit},
        ).fetchall()
    except sqlite3.DatabaseError as error:
        if not is_damage(error) or high <= low:
            raise
        if high - low == 1:
            return _one(connection, where, parameters, high)
        middle = (low + high) // 2
        left = rows_between(connection, where, parameters, low, middle, limit)
        if len(left) >= limit:
            return left
        return [*left, *rows_between(connection, where, parameters, middle, high, limit - len(left))]
    return [Row(*row) for row in found]


def _one(
    connection: sqlite3.Connection, where: str, parameters: Mapping[str, object], entry: int
) -> Sequence[Row]:
    try:
        # by its id alone: looking for a range also touches the page behind it, which may be the damaged one
        found = connection.execute(
            f"SELECT {COLUMNS} WHERE e.id = :id AND ({where})", {**parameters, "id": entry}
        ).fetchall()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return _from_index(connection, entry)
    return [Row(*row) for row in found]


def _from_index(connection: sqlite3.Connection, entry: int) -> Sequence[Row]:
    try:
        found = connection.execute(
            "SELECT t.turn, e.sequence FROM entries e INDEXED BY entries_by_place JOIN turns t ON t.ordinal = e.turn"
            " WHERE e.id = ?",
            (entry,),
        ).fetchone()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return []  # the index is damaged there too; verify names the page
    return [Row(entry, found[0], found[1], 0, None, b"", b"", 0, None)] if found else []


def newest(connection: sqlite3.Connection) -> int:
    """Id of the newest entry."""
    (following,) = connection.execute("SELECT next_entry FROM state").fetchone()
    return following - 1
