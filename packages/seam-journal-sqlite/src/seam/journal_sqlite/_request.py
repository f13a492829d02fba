"""One append on its way to the file, and the turn that it goes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from seam.journal_sqlite._values import MovedValue, part
from seam.tools_def import Entry, Record, record_text


@dataclass(frozen=True, slots=True)
class Draft:
    """A record as it will be written.

    Attributes:
        text: the whole record, what the hash is over.
        stored: what goes into the row: `text`, or what is left of it when large values have moved.
    """

    record: Record
    text: str
    stored: str
    moved: tuple[MovedValue, ...]

    @property
    def weight(self) -> int:
        """Bytes that it counts for."""
        return ROW_BYTES + len(self.text)


ROW_BYTES = 300
"""What a row weighs beside its record, in bytes: hashes, ids, indices; measured, rounded up."""


def draft(record: Record, value_bytes: int) -> Draft:
    """Prepare a record.

    Raises:
        NotSerialisable: it holds something that JSON has not.
    """
    text = record_text(record)
    stored, moved = part(text, value_bytes)
    return Draft(record, text, stored, moved)


@dataclass(slots=True)
class Request:
    """One append: all of its records or none."""

    turn: str
    drafts: Sequence[Draft]
    done: anyio.Event
    entries: tuple[Entry, ...] = ()
    error: Exception | None = None


@dataclass(slots=True)
class OpenTurn:
    """A turn of this writer that has no terminal record yet, as the file has it."""

    ordinal: int
    entries: int
    head: bytes
    bytes: int


@dataclass(slots=True)
class Batch:
    """Rows that one transaction will add."""

    entries: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])
    values: list[tuple[int, str, bytes]] = field(default_factory=list[tuple[int, str, bytes]])
    touched: dict[str, OpenTurn] = field(default_factory=dict[str, OpenTurn])


def encoded(text: str) -> bytes:
    """A text from outside as the file keeps it: UTF-8, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def decoded(content: bytes) -> str:
    """The text that `encoded` was given; damaged bytes show as U+FFFD."""
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace")
