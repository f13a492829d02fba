"""The journal in SQLite keeps the contract."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from seam.journal_sqlite import SqliteJournal, SqliteJournalConfig
from seam.tools_def import Entry
from seam.tools_def.conformance import JournalConformance, JournalSubject


async def damage(file: Path, entry: Entry) -> None:
    """Change a stored record so that it still is JSON."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        changed = connection.execute(
            "UPDATE entries SET record = replace(record, '}', ' }') WHERE sequence = ? AND turn ="
            " (SELECT ordinal FROM turns WHERE turn = ?)",
            (entry.sequence, entry.turn.encode()),
        )
        assert changed.rowcount == 1


class TestSqliteJournal(JournalConformance):
    @pytest.fixture
    def subject(self, tmp_path: Path) -> JournalSubject:
        config = SqliteJournalConfig(path=tmp_path / "journal.db", poll=0.02)
        return JournalSubject(
            name="sqlite",
            open=partial(SqliteJournal.open, config),
            damage=partial(damage, config.path),
        )


class TestSqliteJournalWithSmallValues(JournalConformance):
    """The same, with most records' values in files of their own."""

    @pytest.fixture
    def subject(self, tmp_path: Path) -> JournalSubject:
        config = SqliteJournalConfig(path=tmp_path / "journal.db", poll=0.02, value_bytes=1024)
        return JournalSubject(
            name="sqlite, small values",
            open=partial(SqliteJournal.open, config),
            damage=partial(damage, config.path),
        )
