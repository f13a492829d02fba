"""The writer's thread: takes whatever waits and commits it together, so that calls side by side share one fsync."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence

import anyio
from anyio import from_thread
from anyio.lowlevel import current_token

from seam.journal_sqlite._failure import primary_code, translate
from seam.journal_sqlite._files import Files
from seam.journal_sqlite._place import unavailable
from seam.journal_sqlite._request import Request
from seam.tools_def import JournalError

MOMENT = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
"""Failures that would meet every request of a batch alike, after the same wait."""


class Writer:
    """Owns the thread that writes. Made in the event loop that the appends come from; `join` ends it.

    Args:
        written: called in the event loop after each commit.
    """

    def __init__(self, files: Files, max_batch: int, written: Callable[[], None]) -> None:
        self._file = files.place.file
        self._ledger = files.ledger
        self._rotation = files.rotation
        self._max_batch = max_batch
        self._written = written
        self._loop = current_token()
        self._waiting: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._in_hand: Sequence[Request] = ()
        self._stopped = False
        self._crash: BaseException | None = None
        # a daemon only for the case that the loop is torn down around its owner: an abrupt end loses nothing acknowledged
        self._thread = threading.Thread(target=self._run, name="seam-journal-writer", daemon=True)
        self._thread.start()

    def put(self, request: Request) -> None:
        """Hand over an append; its event is set when it is durable or has failed.

        Raises:
            JournalUnavailable: the journal is closed.
        """
        if self._stopped:
            raise unavailable(self._file, "it is closed")
        self._waiting.put(request)

    def stop(self) -> None:
        """Take nothing more; the thread ends behind what was handed over. Idempotent."""
        if not self._stopped:
            self._stopped = True
            self._waiting.put(None)

    def join(self) -> None:
        """Wait for the end of the thread; to be called from a worker thread, since this one needs the loop to end.

        Raises:
            BaseException: what the thread ended by, where that was not `stop`.
        """
        self._thread.join()
        if self._crash is not None:
            raise self._crash

    def _run(self) -> None:
        try:
            while batch := self._take():
                self._in_hand = batch
                self._commit(batch)
                from_thread.run_sync(self._announce, batch, token=self._loop)
                self._rotation.keep_within()
        except anyio.RunFinishedError:
            pass  # the loop is gone, and everybody who waited with it
        except BaseException as error:  # whatever it is: those who wait must not wait for ever
            self._crash = error
            from_thread.run_sync(self._fail_all, error, token=self._loop)

    def _take(self) -> Sequence[Request]:
        batch: list[Request] = []
        try:
            while len(batch) < self._max_batch:
                request = self._waiting.get(block=not batch)
                if request is None:
                    self._waiting.put(None)  # for the next round, behind what is still there: nothing is
                    break
                batch.append(request)
        except queue.Empty:
            pass
        return batch

    def _commit(self, batch: Sequence[Request]) -> None:
        error = self._try(batch)
        if error is None:
            return
        if len(batch) == 1 or (isinstance(error, sqlite3.Error) and primary_code(error) in MOMENT):
            for request in batch:
                request.error = self._told(error)
            return
        for request in batch:  # one of them may be to blame: the others go on
            alone = self._try([request])
            if alone is not None:
                request.error = self._told(alone)

    def _try(self, batch: Sequence[Request]) -> sqlite3.Error | OSError | None:
        try:
            self._ledger.commit(batch)
        except (sqlite3.Error, OSError) as error:
            return error
        return None

    def _told(self, error: sqlite3.Error | OSError) -> JournalError:
        if isinstance(error, sqlite3.Error):
            return translate(error, self._file)
        return unavailable(self._file, f"a large value cannot be written ({error})")

    def _announce(self, batch: Sequence[Request]) -> None:
        for request in batch:
            request.done.set()
        self._written()

    def _fail_all(self, error: BaseException) -> None:
        self._stopped = True
        left: list[Request | None] = list(self._in_hand)
        while not self._waiting.empty():
            left.append(self._waiting.get_nowait())
        for request in left:
            if request is not None and not request.done.is_set():
                request.error = unavailable(self._file, f"its writer ended ({error!r})")
                request.done.set()
