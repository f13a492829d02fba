"""Where the journal's files lie."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from seam.tools_def import JournalUnavailable


@dataclass(frozen=True)
class Place:
    """The database file and the folder beside it."""

    file: Path

    @property
    def folder(self) -> Path:
        """Everything that is not the database."""
        return self.file.with_name(self.file.name + ".d")

    @property
    def values(self) -> Path:
        """Large values, each in a file that is named by its digest."""
        return self.folder / "values"

    @property
    def writers(self) -> Path:
        """A locked file for each journal that is open."""
        return self.folder / "writers"

    @property
    def opening(self) -> Path:
        """Locked while somebody opens the journal."""
        return self.folder / "opening.lock"

    def prepare(self) -> None:
        """Make the folders.

        The database file itself is left to SQLite and only looked at, never opened: closing a descriptor of it would drop
        the locks that another connection of this process holds (fcntl(2), "record locks").

        Raises:
            JournalUnavailable: a folder cannot be made, or something else than a file lies at the path.
        """
        try:
            for folder in (self.file.parent, self.folder, self.values, self.writers):
                folder.mkdir(mode=0o700, parents=folder == self.file.parent, exist_ok=True)
        except OSError as error:
            raise unavailable(self.file, f"its folder cannot be made ({error})") from error
        try:
            kind = self.file.stat().st_mode
        except FileNotFoundError:
            return
        except OSError as error:
            raise unavailable(self.file, str(error)) from error
        if not stat.S_ISREG(kind):
            raise unavailable(self.file, "it is not a regular file; give the journal a path of its own")
        # asked before SQLite opens it: that would leave a read-only WAL beside it
        if not os.access(self.file, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise unavailable(
                self.file, "it is read-only; make the file and its folder writable for this user"
            )


def unavailable(file: Path, reason: str) -> JournalUnavailable:
    """The error for a journal that cannot be written now."""
    return JournalUnavailable(f"the journal {file} cannot be used: {reason}", path=str(file), reason=reason)
