"""Private temporary folders: made for one command, removed after it, also after a crash."""

# A command may leave names of any bytes behind.
# ruff: noqa: PTH101, PTH108, PTH112, PTH114

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from seam.sandbox_def import Finding, Reason, SandboxUnavailable

_NAME = re.compile(r"confined-(\d+)-(\d+)-[0-9a-f]{16}")


class PrivateFolders:
    """Makes and removes folders whose names say which process owns them.

    Args:
        root: folder below which they are made.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._owner = f"{os.getpid()}-{process_start(os.getpid())}"

    def make(self) -> str:
        """A new empty folder of mode 0700.

        Raises:
            SandboxUnavailable: there is no space, or the root cannot be written.
        """
        path = f"{self._root}/confined-{self._owner}-{secrets.token_hex(8)}"
        try:
            Path(path).mkdir(mode=0o700)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
                raise
            raise SandboxUnavailable(
                (Finding(reason=Reason.NO_SPACE, detail=f"{path}: {error.strerror}"),)
            ) from error
        return path

    @staticmethod
    def remove_empty(path: str) -> bool:
        """Remove a folder if nothing is in it, which takes no time. Returns whether it is gone."""
        try:
            os.rmdir(path)  # noqa: PTH106 - as everything here
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    @staticmethod
    def remove(path: str) -> str:
        """Remove a folder and all that is in it. Returns why it could not be removed, empty when it was."""
        problem = ""

        def again(function: Callable[..., object], name: str, error: BaseException) -> None:
            nonlocal problem
            try:
                # A command may have taken its own right to list or change a folder; the owner can restore it.
                os.chmod(Path(name).parent, stat.S_IRWXU)
                if os.path.isdir(name) and not os.path.islink(name):
                    os.chmod(name, stat.S_IRWXU)
                    shutil.rmtree(name)
                else:
                    os.unlink(name)
            except FileNotFoundError:
                pass  # somebody removed it meanwhile, which is what is wanted
            except OSError as left:
                problem = f"{left.strerror}: {name}"

        if os.path.lexists(path):
            shutil.rmtree(path, onerror=lambda function, name, info: again(function, str(name), info[1]))
        return problem

    def sweep(self) -> tuple[str, ...]:
        """Remove folders whose owner is dead, left by a crash. Returns their paths."""
        removed: list[str] = []
        try:
            with os.scandir(self._root) as entries:
                found = [(entry.path, _NAME.fullmatch(entry.name)) for entry in entries]
        except OSError:
            return ()  # nothing can have been left where nothing can be listed; `make` says what is wrong
        for path, match in found:
            if match and _owned(path) and process_start(int(match[1])) != match[2] and not self.remove(path):
                removed.append(path)
        return tuple(removed)


def _owned(path: str) -> bool:
    try:
        return os.lstat(path).st_uid == os.geteuid()
    except OSError:
        return False  # it is gone already


def process_start(pid: int) -> str:
    """When a process started, in clock ticks since boot; empty when there is no such process. proc(5)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    return text[text.rindex(b")") :].split()[20].decode()
