"""Mount points that bwrap creates on the real disk for protected paths that do not exist yet: counted while
they are in use, removed afterwards, and removed at the next start when the host was killed."""

# Twice for each command: plain system calls, which cost a third of pathlib's.
# ruff: noqa: PTH102, PTH105, PTH106, PTH108, PTH123, PTH208

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
from collections import Counter
from collections.abc import Generator

from seam.sandbox_landlock import process_start

_MODE = 0o700


class Ghosts:
    """The mount points of this process, and a record of them on disk.

    A folder must not be removed while any command still has it mounted: the kernel would detach the mount
    and the path would lie open. So they are counted here, and other processes' records are read.

    Args:
        root: folder below which the records are kept, in a folder of this user's own.
    """

    def __init__(self, root: str) -> None:
        self._folder = f"{root}/confined-mount-points-{os.geteuid()}"
        pid = os.getpid()
        self._name = f"{pid}-{process_start(pid)}.json"
        self._used: Counter[str] = Counter()

    @contextlib.contextmanager
    def locked(self) -> Generator[frozenset[str], None, None]:
        """Keep every other process from creating or removing mount points. Gives those that exist now: although they
        are there, they are nobody's folders, and whoever needs them must hold them too.

        Raises:
            OSError: the folder of the records cannot be used.
        """
        self._prepare()
        lock = os.open(f"{self._folder}/lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield frozenset(self._of_others().union(self._used))
        finally:
            os.close(lock)

    def hold(self, paths: list[str]) -> None:
        """Note mount points that are about to be created; inside of `locked`.

        Raises:
            OSError: the record cannot be written; then nothing must be started.
        """
        if not paths:
            return
        self._used.update(paths)
        try:
            self._write()
        except OSError:
            self._used.subtract(paths)
            raise

    def let_go(self, paths: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
        """Remove the mount points that nobody uses any more. Returns what was removed, and what could not be
        with the reason."""
        if not paths:
            return [], []
        with self.locked():
            self._used.subtract(paths)
            free = [path for path in paths if self._used[path] <= 0]
            for path in free:
                del self._used[path]
            elsewhere = self._of_others()
            removed, left = _remove([path for path in free if path not in elsewhere])
            self._write()
        return removed, left

    def sweep(self) -> tuple[str, ...]:
        """Remove what processes left that were killed."""
        if not self._records():
            return ()
        with self.locked() as in_use:
            dead = [name for name in self._records() if not _alive(name)]
            orphans = {ghost for name in dead for ghost in _read(f"{self._folder}/{name}")}
            removed, _ = _remove(sorted(orphans - in_use))
            for name in dead:
                _unlink(f"{self._folder}/{name}")
        return tuple(removed)

    def _write(self) -> None:
        record = f"{self._folder}/{self._name}"
        used = sorted(path for path, count in self._used.items() if count > 0)
        if not used:
            _unlink(record)
            return
        text = json.dumps([os.fsencode(path).hex() for path in used]).encode("ascii")
        fresh = os.open(f"{record}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            if os.write(fresh, text) != len(text):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), record)
        finally:
            os.close(fresh)
        os.replace(f"{record}.new", record)

    def _prepare(self) -> None:
        try:
            facts = os.lstat(self._folder)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._folder, _MODE)
            facts = os.lstat(self._folder)
        if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
            raise PermissionError(f"{self._folder} is not a private folder of this user; remove it")

    def _records(self) -> list[str]:
        try:
            return [name for name in os.listdir(self._folder) if name.endswith(".json")]
        except (FileNotFoundError, NotADirectoryError):
            return []  # nothing was ever recorded

    def _of_others(self) -> set[str]:
        return {
            ghost
            for name in self._records()
            if name != self._name and _alive(name)
            for ghost in _read(f"{self._folder}/{name}")
        }


def _alive(name: str) -> bool:
    pid, _, started = name.removesuffix(".json").partition("-")
    return pid.isdecimal() and process_start(int(pid)) == started


def _read(record: str) -> list[str]:
    try:
        with open(record, "rb") as file:
            return [os.fsdecode(bytes.fromhex(text)) for text in json.loads(file.read())]
    except (OSError, ValueError):
        return []  # its owner is removing it, or was killed while writing: then nothing was started for it


def _unlink(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _remove(paths: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    removed: list[str] = []
    left: list[tuple[str, str]] = []
    for path in paths:
        try:
            os.rmdir(path)  # only an empty folder is ever removed
            removed.append(path)
        except FileNotFoundError:
            continue  # the runner never came so far
        except OSError as error:
            left.append((path, error.strerror or "cannot be removed"))
    return removed, left
