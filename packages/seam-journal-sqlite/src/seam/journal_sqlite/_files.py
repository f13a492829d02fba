"""Everything that a journal holds open, and the order in which it is opened and closed. All of it blocks: for worker threads."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack
from dataclasses import dataclass

from seam.journal_sqlite._config import SqliteJournalConfig
from seam.journal_sqlite._connect import open_for_reading, open_for_writing
from seam.journal_sqlite._failure import translate
from seam.journal_sqlite._ledger import Ledger
from seam.journal_sqlite._place import Place, unavailable
from seam.journal_sqlite._presence import Presence
from seam.journal_sqlite._rotation import Rotation
from seam.journal_sqlite._values import ValueFolder


@dataclass(frozen=True)
class Files:
    """Open files; `close` ends them, the last journal on the file brings the WAL home."""

    place: Place
    values: ValueFolder
    reading: sqlite3.Connection
    ledger: Ledger
    rotation: Rotation
    _opened: ExitStack

    @staticmethod
    def open(config: SqliteJournalConfig) -> Files:
        """Open everything, or nothing.

        Raises:
            JournalUnavailable, JournalCorrupt, JournalTooNew: see `SqliteJournal.open`.
        """
        place = Place(config.path)
        values = ValueFolder(place.values)
        with ExitStack() as opened:
            writing = open_for_writing(place, config.busy_timeout)
            opened.callback(writing.close)
            presence = Presence(place)
            opened.callback(presence.close)
            reading = open_for_reading(place, config.busy_timeout)
            opened.callback(reading.close)
            rotation = Rotation(writing, presence, values, config.max_bytes)
            try:
                presence.sweep()
                rotation.remove_unused()
            except sqlite3.Error as error:
                raise translate(error, place.file) from error
            except OSError as error:
                raise unavailable(place.file, str(error)) from error
            return Files(
                place, values, reading, Ledger(writing, presence, values), rotation, opened.pop_all()
            )
        raise AssertionError("ExitStack swallows nothing")

    def close(self) -> None:
        """Close everything."""
        self._opened.close()
