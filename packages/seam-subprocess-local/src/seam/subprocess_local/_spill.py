"""Output on disk: private files with random names, capped, hashed as they are written."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import tempfile
from pathlib import Path

from seam.subprocess_def import Spill

PREFIX = "seam-spill-"


class SpillFolder:
    """The 0700 folder of a runtime's spill files; made when the first one is."""

    __slots__ = ("_given", "_path")

    def __init__(self, given: str | None) -> None:
        self._given = given
        self._path: Path | None = None

    def create(self) -> tuple[str, int]:
        """Make a file with a random name; returns its path and a descriptor.

        Raises:
            OSError: the folder or the file cannot be made, or a folder that was named is open to others.
        """
        if self._path is None:
            self._path = self._make()
        path = self._path / f"{secrets.token_hex(16)}.out"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        return str(path), os.open(path, flags, 0o600)

    def _make(self) -> Path:
        if self._given is None:
            return Path(tempfile.mkdtemp(prefix=PREFIX))
        path = Path(self._given)
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.stat()
        if found.st_mode & 0o077 or found.st_uid != os.geteuid():
            raise PermissionError(
                f"{path} must belong to this user and have mode 0700; run: chmod 700 {path}"
            )
        return path

    def remove(self) -> None:
        """Remove the folder and its files, unless it was named by the configuration."""
        if self._given is None and self._path is not None:
            shutil.rmtree(self._path)
            self._path = None


class SpillFile:
    """The first `cap` bytes of one stream."""

    __slots__ = ("_cap", "_descriptor", "_digest", "_hash", "error", "path", "size")

    def __init__(self, folder: SpillFolder, cap: int) -> None:
        self.size = 0
        self.error: str | None = None
        self.path: str | None = None
        self._cap = cap
        self._hash = hashlib.sha256()
        self._digest: str | None = None
        self._descriptor = -1
        try:
            self.path, self._descriptor = folder.create()
        except OSError as problem:
            self.error = f"no spill file: {problem}"

    def write(self, data: bytes | memoryview) -> None:
        """Append what fits under the cap; a disk that fails ends the file, never the process."""
        room = self._cap - self.size
        view = memoryview(data)[:room] if room < len(data) else memoryview(data)
        while view and self._descriptor >= 0:
            try:
                written = os.write(self._descriptor, view)
            except OSError as problem:
                self.error = f"{self.path}: {problem.strerror}"
                self.close()
                return
            self._hash.update(view[:written])
            self.size += written
            view = view[written:]

    def close(self) -> None:
        """Nothing will be appended; settles the digest. Idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
            self._digest = f"sha256:{self._hash.hexdigest()}"

    def facts(self) -> Spill | None:
        """What is on disk; None when there is no file."""
        return None if self.path is None else Spill(path=self.path, size=self.size, digest=self._digest)

    def read(self, offset: int, max_bytes: int) -> bytes:
        """Bytes of the file; empty beyond its end."""
        if self.path is None or offset >= self.size:
            return b""
        descriptor = (
            self._descriptor if self._descriptor >= 0 else os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        )
        try:
            return os.pread(descriptor, min(max_bytes, self.size - offset), offset)
        finally:
            if descriptor != self._descriptor:
                os.close(descriptor)
