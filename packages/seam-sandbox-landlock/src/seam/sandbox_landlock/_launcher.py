"""Which launcher there is, and whether it can be trusted."""

from __future__ import annotations

import marshal
import os
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path

from seam.sandbox_def import Finding, Reason
from seam.sandbox_landlock._config import LauncherChoice

_HERE = Path(__file__).parent
_BOOT = (
    *("-I", "-S", "-c"),
    "import marshal, posix, sys\n"
    "def take(size):\n"
    " text = b''\n"
    " while len(text) < size:\n"
    "  part = posix.read(int(sys.argv[1]), size - len(text))\n"
    "  if not part: posix._exit(125)\n"
    "  text += part\n"
    " return text\n"
    "exec(marshal.loads(take(int.from_bytes(take(4), 'little'))))",
)
"""Isolated, without site-packages; runs the code that comes before the message on the descriptor named first."""


@dataclass(frozen=True)
class Launcher:
    """How the launcher is started.

    Attributes:
        argv: program and its first arguments; the descriptor, `--` and the command follow.
        kind: `static` or `python`.
        files: every file of it that must not be changed by others; the last one is what it does.
        code: what must be written before the message.
    """

    argv: tuple[str, ...]
    kind: str
    files: tuple[str, ...]
    code: bytes = field(default=b"", repr=False)

    def inside(self, path: str) -> tuple[str, ...]:
        """`argv` where its last file is found at `path` instead."""
        return (path,) if self.kind == "static" else self.argv


def find_launcher(choice: LauncherChoice) -> Launcher | None:
    """The launcher of the choice, or `None` where the wheel does not have it."""
    binary = _HERE / "_bin" / "seam-confine"
    if choice != "python" and os.access(binary, os.X_OK):
        return Launcher((str(binary),), "static", (str(binary),))
    if choice == "static":
        return None
    script = str(_HERE / "confine.py")
    return Launcher((sys.executable, *_BOOT), "python", (sys.executable, script), _compiled(script))


def _compiled(script: str) -> bytes:
    """The script as the same interpreter runs it: its length in four bytes, then the code. Compiling it takes a
    third of the time of a start, and compiled files beside it could be missing or old."""
    code = compile(Path(script).read_bytes(), script, "exec", dont_inherit=True, optimize=0)
    whole = marshal.dumps(code)
    return len(whole).to_bytes(4, "little") + whole


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
