"""Results of probes that outlive a process: files that only their owner can have written."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import secrets
import stat
from collections.abc import Generator
from pathlib import Path

from pydantic import ValidationError

from seam.kernel import Value
from seam.sandbox_def._report import ProbeResult

_LOG = logging.getLogger("seam.sandbox.verdicts")
_MOST_BYTES = 1 << 16
_MOST_RECORDS = 64
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class _Record(Value):
    """One file: the whole key (the file's name is only its digest), and until when it holds."""

    key: str
    until: float | None
    result: ProbeResult


class Verdicts:
    """Keeps results of probes in one folder, a file for each key.

    Nothing is believed that another user could have written: the folder and the file must be this user's own and
    closed to everybody else, and neither may be a link. What cannot be believed or read is as if it were not there.

    Args:
        folder: absolute path; made with mode 0700 when something is kept.
        boot: names this boot; what is kept is void in any other.
    """

    def __init__(self, folder: str, boot: str) -> None:
        self._folder = folder
        self._boot = boot

    def find(self, key: str, now: float) -> tuple[ProbeResult, float | None] | None:
        """What was kept for `key`, with the time until when it holds (`None`: this boot); `None` when nothing was.

        Args:
            key: everything that the result depends on.
            now: seconds since boot.
        """
        try:
            with _opened(self._folder) as folder:
                record = _Record.model_validate_json(_read(self._name(key), folder))
        except (OSError, ValidationError) as error:
            _LOG.debug("no verdict in %s: %s", self._folder, error)
            return None
        if record.key != key or (record.until is not None and not now < record.until):
            return None
        return record.result, record.until

    def keep(self, key: str, result: ProbeResult, until: float | None) -> None:
        """Write a result. Where that cannot be done it is logged, and the next process probes again."""
        text = _Record(key=key, until=until, result=result).model_dump_json().encode()
        try:
            Path(self._folder).mkdir(mode=0o700, parents=True, exist_ok=True)
            with _opened(self._folder) as folder:
                _write(self._name(key), text, folder)
                self._tidy(folder)
        except OSError as error:
            _LOG.warning("a verdict cannot be kept in %s: %s", self._folder, error)

    def _name(self, key: str) -> str:
        return f"{self._boot}.{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()}.json"

    def _tidy(self, folder: int) -> None:
        """Remove what is of another boot, and the oldest of what is too much."""
        found = [name for name in os.listdir(folder) if name.endswith(".json")]
        old = [name for name in found if not name.startswith(f"{self._boot}.")]
        kept = [(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime_ns, name) for name in found]
        kept = sorted(entry for entry in kept if entry[1] not in old)
        for name in (*old, *(name for _, name in kept[:-_MOST_RECORDS])):
            with contextlib.suppress(FileNotFoundError):  # another process tidies as well
                os.unlink(name, dir_fd=folder)


@contextlib.contextmanager
def _opened(path: str) -> Generator[int, None, None]:
    """The folder, provided that nobody else can write or read it.

    Raises:
        OSError: it is missing, a link, somebody else's, or open to others.
    """
    folder = os.open(path, _FLAGS | os.O_DIRECTORY)
    try:
        _must_be_private(os.fstat(folder), path)
        yield folder
    finally:
        os.close(folder)


def _read(name: str, folder: int) -> bytes:
    file = os.open(name, _FLAGS, dir_fd=folder)
    try:
        facts = os.fstat(file)
        _must_be_private(facts, name)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1 or facts.st_size > _MOST_BYTES:
            raise PermissionError(f"{name} is no ordinary file with one name")
        return os.read(file, _MOST_BYTES)
    finally:
        os.close(file)


def _write(name: str, text: bytes, folder: int) -> None:
    fresh = f"{name}.{secrets.token_hex(8)}"
    file = os.open(
        fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder
    )
    try:
        with os.fdopen(file, "wb") as writer:
            writer.write(text)
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(fresh, dir_fd=folder)
        raise


def _must_be_private(facts: os.stat_result, name: str) -> None:
    if facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
        raise PermissionError(f"{name} belongs to user {facts.st_uid}, mode {facts.st_mode & 0o7777:o}")
