"""Older formats are migrated, in one transaction."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from seam.journal_sqlite._format import bring_up_to_date


def rows(connection: sqlite3.Connection, question: str) -> list[tuple[object, ...]]:
    return connection.execute(question).fetchall()


def add_a_table(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE added (value)")


def fill_it(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO added VALUES (1)")


def test_t_93_an_older_format_is_migrated_step_by_step(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        bring_up_to_date(connection, file)
        assert rows(connection, "PRAGMA user_version") == [(1,)]
        bring_up_to_date(connection, file, (add_a_table,))
        assert rows(connection, "PRAGMA user_version") == [(2,)]
        bring_up_to_date(connection, file, (add_a_table, fill_it))
        assert rows(connection, "PRAGMA user_version") == [(3,)]
        assert rows(connection, "SELECT * FROM added") == [(1,)]
        bring_up_to_date(connection, file, (add_a_table, fill_it))  # nothing to do
        assert rows(connection, "SELECT * FROM added") == [(1,)]


def test_t_93_a_migration_that_fails_leaves_the_older_format_whole(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"

    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE half (value)")
        raise RuntimeError("no")

    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        bring_up_to_date(connection, file)
        with pytest.raises(RuntimeError):
            bring_up_to_date(connection, file, (add_a_table, fail))
        assert rows(connection, "PRAGMA user_version") == [(1,)]
        assert not rows(connection, "SELECT 1 FROM sqlite_master WHERE name IN ('added', 'half')")
        bring_up_to_date(connection, file)
