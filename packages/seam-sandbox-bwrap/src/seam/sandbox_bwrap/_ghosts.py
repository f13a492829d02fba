"""Mount points that bwrap creates on the real disk for protected paths that do not exist yet: counted while
they are in use, removed afterwards, and removed at the next start when the host was killed."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
from collections import Counter
from collections.abc import Generator
from pathlib import Path

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
        self._folder = Path(root, f"confined-mount-points-{os.geteuid()}")
        pid = os.getpid()
        self._record = self._folder / f"{pid}-{process_start(pid)}.json"
        self._used: Counter[str] = Counter()

    @contextlib.contextmanager
    def locked(self) -> Generator[frozenset[str], None, None]:
        """Keep every other process from creating or removing mount points. Gives those that exist now: although they
        are there, they are nobody's folders, and whoever needs them must hold them too.

        Raises:
            OSError: the folder of the records cannot be used.
        """
        self._prepare()
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield frozenset(self._of_others() | set(self._used))

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
            dead = [path for path in self._records() if not _alive(path)]
            orphans = {ghost for path in dead for ghost in _read(path)}
            removed, _ = _remove(sorted(orphans - in_use))
            for path in dead:
                path.unlink(missing_ok=True)
        return tuple(removed)

    def _write(self) -> None:
        used = sorted(path for path, count in self._used.items() if count > 0)
        if not used:
            self._record.unlink(missing_ok=True)
            return
        fresh = self._record.with_suffix(".new")
        fresh.write_text(json.dumps([os.fsencode(path).hex() for path in used]), "ascii")
        fresh.replace(self._record)

    def _prepare(self) -> None:
        self._folder.mkdir(mode=_MODE, exist_ok=True)
        facts = self._folder.lstat()
        if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
            raise PermissionError(f"{self._folder} is not a private folder of this user; remove it")

    def _records(self) -> list[Path]:
        return sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []

    def _of_others(self) -> set[str]:
        return {
            ghost
            for path in self._records()
            if path != self._record and _alive(path)
            for ghost in _read(path)
        }


def _alive(record: Path) -> bool:
    pid, _, started = record.stem.partition("-")
    return pid.isdecimal() and process_start(int(pid)) == started


def _read(record: Path) -> list[str]:
    try:
        return [os.fsdecode(bytes.fromhex(text)) for text in json.loads(record.read_text("ascii"))]
    except (OSError, ValueError):
        return []  # its owner is removing it, or was killed while writing: then nothing was started for it


def _remove(paths: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    removed: list[str] = []
    left: list[tuple[str, str]] = []
    for path in paths:
        try:
            os.rmdir(path)  # noqa: PTH106 - only an empty folder is ever removed
            removed.append(path)
        except FileNotFoundError:
            continue  # the runner never came so far
        except OSError as error:
            left.append((path, error.strerror or "cannot be removed"))
    return removed, left
