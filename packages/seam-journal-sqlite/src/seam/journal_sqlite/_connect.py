"""Connections to the database."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager

from seam.journal_sqlite._failure import translate
from seam.journal_sqlite._format import bring_up_to_date, refuse_other_databases
from seam.journal_sqlite._place import Place, unavailable

LOOK_AGAIN = 0.02
"""Seconds between two tries for the opening lock; whoever holds it needs some milliseconds."""


def open_for_writing(place: Place, busy_timeout: float) -> sqlite3.Connection:
    """A connection whose commits are durable; the file is made or migrated where needed.

    Raises:
        JournalUnavailable, JournalCorrupt, JournalTooNew: see `Journal`.
    """
    place.prepare()
    with _opening(place, busy_timeout):
        _create_private(place)
        connection = _connected(place, busy_timeout)
        try:
            refuse_other_databases(connection, place.file)
            # one file, one writer at a time, readers beside it; FULL: a commit returns when fsync(2) of the WAL did
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = ON")  # macOS: fsync alone does not reach the disk there
            bring_up_to_date(connection, place.file)
        except sqlite3.Error as error:
            connection.close()
            raise translate(error, place.file) from error
        except BaseException:
            connection.close()
            raise
    return connection


def open_for_reading(place: Place, busy_timeout: float) -> sqlite3.Connection:
    """A connection that cannot change anything.

    Raises:
        JournalUnavailable, JournalCorrupt: see `Journal`.
    """
    connection = _connected(place, busy_timeout)
    try:
        connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error as error:
        connection.close()
        raise translate(error, place.file) from error
    return connection


def _connected(place: Place, busy_timeout: float) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            place.file, timeout=busy_timeout, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise translate(error, place.file) from error
    connection.text_factory = bytes  # damaged text must not fail the rows around it
    return connection


@contextmanager
def _opening(place: Place, busy_timeout: float) -> Generator[None]:
    # changing the journal mode and making tables do not wait for each other inside SQLite
    deadline = time.monotonic() + busy_timeout
    try:
        lock = os.open(place.opening, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unavailable(place.file, f"its lock file cannot be opened ({error})") from error
    try:
        while not _locked(lock):
            if time.monotonic() > deadline:
                raise unavailable(place.file, "another process has been opening it for too long")
            time.sleep(LOOK_AGAIN)
        yield
    finally:
        os.close(lock)


def _create_private(place: Place) -> None:
    # made here, since SQLite would leave it readable for others; nobody holds a lock on a file that is not there yet
    try:
        os.close(os.open(place.file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise unavailable(place.file, f"it cannot be made ({error})") from error


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
