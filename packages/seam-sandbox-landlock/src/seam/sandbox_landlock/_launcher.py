"""Which launcher there is, and whether it can be trusted."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from seam.sandbox_def import Finding, Reason
from seam.sandbox_landlock._config import LauncherChoice

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Launcher:
    """How the launcher is started.

    Attributes:
        argv: program and its first arguments; the descriptor, `--` and the command follow.
        kind: `static` or `python`.
        files: every file of it that must not be changed by others.
    """

    argv: tuple[str, ...]
    kind: str
    files: tuple[str, ...]


def find_launcher(choice: LauncherChoice) -> Launcher | None:
    """The launcher of the choice, or `None` where the wheel does not have it."""
    binary = _HERE / "_bin" / "seam-confine"
    if choice != "python" and os.access(binary, os.X_OK):
        return Launcher((str(binary),), "static", (str(binary),))
    if choice == "static":
        return None
    script = str(_HERE / "confine.py")
    return Launcher((sys.executable, "-I", "-S", script), "python", (sys.executable, script))


def distrust(path: str) -> Finding | None:
    """Why `path` must not be run as part of a sandbox: somebody else could have changed it."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - a path of any bytes
    except OSError as error:
        return Finding(reason=Reason.NO_BINARY, detail=f"{path}: {error.strerror}")
    if not stat.S_ISREG(facts.st_mode):
        return Finding(reason=Reason.NO_BINARY, detail=f"{path} is no file")
    if facts.st_mode & 0o022:
        return Finding(reason=Reason.UNTRUSTED_BINARY, detail=f"{path} can be written by group or others")
    if facts.st_uid not in (0, os.geteuid()):
        return Finding(reason=Reason.UNTRUSTED_BINARY, detail=f"{path} belongs to user {facts.st_uid}")
    return None
