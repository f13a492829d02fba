"""What SQLite says, in the journal's own errors."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from seam.journal_sqlite._place import unavailable
from seam.tools_def import JournalCorrupt, JournalError

_ADVICE = {
    sqlite3.SQLITE_BUSY: "another process holds its lock; end that process or raise busy_timeout",
    sqlite3.SQLITE_LOCKED: "another process holds its lock; end that process or raise busy_timeout",
    sqlite3.SQLITE_FULL: "the disk is full; make room, nothing was appended",
    sqlite3.SQLITE_READONLY: "it is read-only; make the file and its folder writable for this user",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check the folder and its permissions",
    sqlite3.SQLITE_IOERR: "the disk reports an error; nothing was appended",
    sqlite3.SQLITE_PERM: "its permissions do not allow it",
}
# SQLITE_ERROR: our statements fit our tables, so a table is missing or has another shape
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_ERROR)


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code (https://sqlite.org/rescode.html), or -1 where the error is the Python module's own."""
    extended = getattr(error, "sqlite_errorcode", None)
    return extended & 0xFF if isinstance(extended, int) else -1


def is_damage(error: sqlite3.Error) -> bool:
    """Whether it tells of the file's content, not of this moment."""
    return primary_code(error) in _CORRUPT or type(error) is sqlite3.DatabaseError


def translate(error: sqlite3.Error, file: Path) -> JournalError:
    """The journal's error for what SQLite raised."""
    if is_damage(error):
        return corrupt(file, str(error))
    advice = _ADVICE.get(primary_code(error))
    return unavailable(file, f"{advice} ({error})" if advice else str(error))


def corrupt(file: Path, reason: str) -> JournalCorrupt:
    """The error for a file whose content is not what it should be."""
    return JournalCorrupt(
        f"the journal {file} is damaged: {reason}; keep a copy of it, and name another path to go on",
        path=str(file),
        reason=reason,
    )
