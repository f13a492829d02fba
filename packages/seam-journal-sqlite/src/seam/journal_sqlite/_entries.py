"""From a row to an entry. A record that cannot be read is replaced by a note that says so; it does not eat its neighbours."""

from __future__ import annotations

import json
import sqlite3
from typing import cast

from pydantic import JsonValue, ValidationError

from seam.journal_sqlite._ledger import hash_text, time_of
from seam.journal_sqlite._request import decoded
from seam.journal_sqlite._rows import Row
from seam.journal_sqlite._values import ValueFolder, ValueLost, put
from seam.tools_def import Entry, Noted, Record, canonical_json, record_adapter

LOST_CONTENT: dict[str, JsonValue] = {"outcome.content": [], "actions": [], "reasons": []}
"""What stands for a lost value where its place takes no text."""


class RecordUnreadable(Exception):
    """A record is not what was written."""


def entry_of(connection: sqlite3.Connection, values: ValueFolder, row: Row) -> Entry:
    """The entry of a row."""
    row = _sound(row)
    return Entry.model_construct(
        turn=decoded(row.turn),
        sequence=row.sequence,
        time=time_of(row.time),
        record=_record_or_note(connection, values, row),
        previous=hash_text(row.previous),
        hash=hash_text(row.hash),
    )


def _sound(row: Row) -> Row:
    # SQLite's types are wishes: somebody may have written anything into a column
    if isinstance(row.time, int) and isinstance(row.previous, bytes) and isinstance(row.hash, bytes):  # pyright: ignore[reportUnnecessaryIsInstance] - as said
        return row
    return row._replace(time=0, previous=b"", hash=b"", record=None)


def _record_or_note(connection: sqlite3.Connection, values: ValueFolder, row: Row) -> Record:
    try:
        document, _ = _document(connection, values, row)  # what is lost is told in its place
        return record_adapter.validate_python(document)
    except RecordUnreadable as error:
        return _note(row, str(error))
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, item["loc"])) or "(whole)" for item in error.errors())
        return _note(row, f"this version does not know such a record ({fields})")


def _note(row: Row, problem: str) -> Noted:
    return Noted(
        topic="journal.damaged",
        text=f"the record cannot be read: {problem}; `seam journal verify` tells more",
        call=decoded(row.call) if row.call is not None else None,
    )


def whole_text(connection: sqlite3.Connection, values: ValueFolder, row: Row) -> str:
    """The text that the entry's hash is over.

    Raises:
        RecordUnreadable: it cannot be had.
    """
    if not row.moved and isinstance(row.record, bytes):
        try:
            return row.record.decode("ascii")
        except UnicodeDecodeError as error:
            raise RecordUnreadable("it is not the text that was written") from error
    document, lost = _document(connection, values, row)
    if lost:
        raise RecordUnreadable("; ".join(lost))
    return canonical_json(document)


def _document(
    connection: sqlite3.Connection, values: ValueFolder, row: Row
) -> tuple[dict[str, JsonValue], list[str]]:
    if row.record is None:
        raise RecordUnreadable("its page of the file is damaged")
    try:
        document = json.loads(cast(bytes, row.record))
    except (ValueError, TypeError, RecursionError) as error:
        raise RecordUnreadable(f"it is not the text that was written ({error})") from error
    if not isinstance(document, dict):
        raise RecordUnreadable("it is not the text that was written")
    document = cast("dict[str, JsonValue]", document)
    lost: list[str] = []
    if row.moved:
        _bring_back(connection, values, row, document, lost)
    return document, lost


def _bring_back(
    connection: sqlite3.Connection,
    values: ValueFolder,
    row: Row,
    document: dict[str, JsonValue],
    lost: list[str],
) -> None:
    moved = connection.execute("SELECT place, digest FROM moved_values WHERE entry = ?", (row.id,)).fetchall()
    if len(moved) != row.moved:
        lost.append(f"{row.moved - len(moved)} of its large values are not listed any more")
    for stored, digest in moved:
        place = stored.decode("utf-8", "replace")
        try:
            put(document, place, values.load(digest))
        except ValueLost as error:
            lost.append(str(error))
            if place.partition(".")[0] in document:
                put(document, place, LOST_CONTENT.get(place, f"[lost: {error}]"))
