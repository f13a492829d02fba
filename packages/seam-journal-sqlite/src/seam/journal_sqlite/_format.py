"""The tables, their version, and how an older version becomes this one."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from seam.journal_sqlite._failure import corrupt
from seam.tools_def import JournalTooNew

APPLICATION_ID = 0x5EA1_0C1A
"""Stands in the file's header (PRAGMA application_id), so that another program's database is not taken for a journal."""

Step = Callable[[sqlite3.Connection], None]

# Texts that come from outside are kept as bytes: SQLite's TEXT can hold neither NUL nor lone surrogates safely.
TABLES = (
    """
    CREATE TABLE state (
        only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
        next_entry INTEGER NOT NULL,
        last_time INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        next_link INTEGER NOT NULL,
        tip BLOB NOT NULL,
        base INTEGER NOT NULL,
        base_link BLOB NOT NULL
    )""",
    """
    CREATE TABLE links (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        turn BLOB NOT NULL,
        entries INTEGER NOT NULL,
        head BLOB NOT NULL,
        link BLOB NOT NULL
    )""",
    """
    CREATE TABLE turns (
        ordinal INTEGER PRIMARY KEY,
        turn BLOB NOT NULL UNIQUE,
        writer TEXT NOT NULL,
        anchor BLOB NOT NULL,
        entries INTEGER NOT NULL,
        head BLOB NOT NULL,
        bytes INTEGER NOT NULL,
        started INTEGER NOT NULL,
        ended INTEGER,
        state TEXT NOT NULL,
        agent BLOB,
        session BLOB
    )""",
    """
    CREATE TABLE entries (
        id INTEGER PRIMARY KEY,
        turn INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        time INTEGER NOT NULL,
        kind TEXT NOT NULL,
        call BLOB,
        tool BLOB,
        outcome TEXT,
        previous BLOB NOT NULL,
        hash BLOB NOT NULL,
        moved INTEGER NOT NULL,
        record TEXT NOT NULL
    )""",
    "CREATE UNIQUE INDEX entries_by_place ON entries (turn, sequence)",
    "CREATE INDEX entries_by_call ON entries (turn, call, kind, tool, outcome) WHERE call IS NOT NULL",
    """
    CREATE TABLE moved_values (
        entry INTEGER NOT NULL,
        place TEXT NOT NULL,
        digest BLOB NOT NULL,
        PRIMARY KEY (entry, place)
    ) WITHOUT ROWID""",
    "CREATE INDEX moved_values_by_digest ON moved_values (digest)",
    "CREATE TABLE unused_values (digest BLOB PRIMARY KEY) WITHOUT ROWID",
)

MIGRATIONS: tuple[Step, ...] = ()
"""Step n makes version n + 2 of version n + 1."""


def bring_up_to_date(
    connection: sqlite3.Connection, file: Path, migrations: Sequence[Step] = MIGRATIONS
) -> None:
    """Make the tables in an empty file, or migrate an older version, in one transaction.

    Raises:
        JournalTooNew: a newer version wrote it.
        JournalCorrupt: it is a database of something else.
        sqlite3.Error: as SQLite reports it.
    """
    supported = len(migrations) + 1
    connection.execute("BEGIN IMMEDIATE")
    try:
        refuse_other_databases(connection, file)
        application, version = _header(connection)
        if application != APPLICATION_ID:
            _create(connection)
        elif version > supported:
            raise JournalTooNew(
                f"the journal {file} has format {version}, this version reads up to {supported}; upgrade seam-journal-sqlite",
                path=str(file),
                found=version,
                supported=supported,
            )
        elif version < supported:
            for step in migrations[version - 1 :]:
                step(connection)
        # written even where nothing changed: SQLite opens a file read-only without a word, and says so at the first write
        connection.execute(f"PRAGMA user_version = {supported}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def refuse_other_databases(connection: sqlite3.Connection, file: Path) -> None:
    """Before anything is changed: whether it is empty or a journal.

    Raises:
        JournalCorrupt: it is a database of something else.
        sqlite3.Error: it is no database.
    """
    application, _ = _header(connection)
    if application != APPLICATION_ID and (application or _holds_tables(connection)):
        raise corrupt(file, "it is a database of another program")


def _header(connection: sqlite3.Connection) -> tuple[int, int]:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application, version


def _holds_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None


def _create(connection: sqlite3.Connection) -> None:
    for statement in TABLES:
        connection.execute(statement)
    seed = secrets.token_bytes(32)  # two journals never share an anchor
    connection.execute("INSERT INTO state VALUES (1, 1, 0, 0, 1, ?, 0, ?)", (seed, seed))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
