"""The journal in one SQLite file. Implementer of `journal`, mechanism `sqlite`."""

from seam.journal_sqlite._config import SqliteJournalConfig
from seam.journal_sqlite._journal import SqliteJournal
from seam.journal_sqlite._plugin import sqlite

__all__ = ["SqliteJournal", "SqliteJournalConfig", "sqlite"]
