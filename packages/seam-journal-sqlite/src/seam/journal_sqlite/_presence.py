"""Which journals are open: a locked file for each, so that a turn whose writer is gone can be told from one that runs."""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path

from seam.journal_sqlite._place import Place, unavailable


class Presence:
    """This writer's lock, held until `close` or the end of the process, however it ends (flock(2)).

    Raises:
        JournalUnavailable: the lock file cannot be made.
    """

    def __init__(self, place: Place) -> None:
        self._folder = place.writers
        try:
            self.writer, self._descriptor = self._enter()
        except OSError as error:
            raise unavailable(place.file, f"no lock file can be made in {self._folder} ({error})") from error

    def alive(self, writer: str) -> bool:
        """Whether a writer has its journal open."""
        if writer == self.writer:
            return True
        try:
            descriptor = os.open(self._file(writer), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def sweep(self) -> None:
        """Remove the files of writers that are gone."""
        for file in self._folder.iterdir():
            if not self.alive(file.name):
                # a writer that is just entering looks whether its file is still there, and enters anew
                file.unlink(missing_ok=True)

    def close(self) -> None:
        """Leave; idempotent."""
        if self._descriptor >= 0:
            self._file(self.writer).unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = -1

    def _enter(self) -> tuple[str, int]:
        while True:
            writer = secrets.token_hex(8)
            file = self._file(writer)
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if file.stat().st_ino == os.fstat(descriptor).st_ino:
                    return writer, descriptor
            except (BlockingIOError, FileNotFoundError):
                pass  # a sweep came between: another name
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)
            file.unlink(missing_ok=True)

    def _file(self, writer: str) -> Path:
        return self._folder / writer
