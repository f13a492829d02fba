"""The place of an attempt: a workspace, what lies outside of it, a home with secrets, and the policy for them."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

from seam.sandbox_def._limits import Limits
from seam.sandbox_def._modes import Mode
from seam.sandbox_def._policy import PathRule, Policy

LIMITS = Limits(
    processes=200,
    memory=384 << 20,
    file_size=64 << 20,
    open_files=512,
    cpu_time=2,
    temporary_size=64 << 20,
    core_size=0,
)
"""Limits of every attempt."""

_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS of a 64-bit machine


@dataclass(frozen=True)
class Arena:
    """Folders and files of one attempt.

    Attributes:
        base: everything is below it.
        word: the secret of this attempt, also what it says to listeners.
    """

    base: Path
    word: str

    @property
    def outside(self) -> Path:
        """Not writable, but readable."""
        return self.base / "outside"

    @property
    def workspace(self) -> Path:
        """The writable root in `workspace-write`."""
        return self.base / "ws"

    @property
    def home(self) -> Path:
        """A home folder with hidden files."""
        return self.base / "home"

    @property
    def temporary(self) -> Path:
        """`TMPDIR` of the control."""
        return self.base / "control-tmp"

    def build(self) -> None:
        """Make everything anew."""
        self.destroy()
        for folder in (
            "outside/empty",
            "ws/.git/hooks",
            "ws/.agent",
            "home/.ssh",
            "home/bin",
            "control-tmp",
        ):
            (self.base / folder).mkdir(parents=True)
        secret = f"secret {self.word}\n"
        texts = {
            "outside/file": "outside\n",
            "outside/linked-target": "outside\n",
            "ws/mine": "mine\n",
            "ws/.git/hooks/sample": "#!/bin/sh\n",
            "ws/.git/config": "[core]\n",
            "ws/.agent/settings": "{}\n",
            "home/.ssh/id": secret,
            "home/.aws": secret,
            "home/.bashrc": "# start\n",
            "home/bin/tool": "#!/bin/sh\n",
        }
        for name, text in texts.items():
            (self.base / name).write_text(text, "utf-8")
        (self.base / "ws/linked").hardlink_to(self.base / "outside/linked-target")
        (self.base / "ws/way-out").symlink_to(self.outside)
        (self.base / "ws/key").symlink_to(self.home / ".ssh/id")

    def destroy(self) -> None:
        """Remove everything, whatever its modes have become."""
        for folder, names, _ in os.walk(self.base):
            for name in names:
                path = Path(folder, name)
                if not path.is_symlink():
                    path.chmod(0o700)
        if self.base.exists():
            shutil.rmtree(self.base)

    def picture(self) -> dict[str, object]:
        """What is not the command's own, as it is now: contents, kind, mode, owner, times and attributes."""
        seen: dict[str, object] = {}
        for top in (self.outside, self.home, self.workspace / ".git", self.workspace / ".agent"):
            for folder, names, files in os.walk(top):
                for name in (*names, *files):
                    path = Path(folder, name)
                    seen[str(path)] = _facts(path)
        for name in (".vscode", ".mcp.json"):
            seen[name] = os.path.lexists(self.workspace / name)
        return seen

    def policy(self, mode: Mode) -> Policy:
        """The policy of an attempt."""

        def rules(*paths: Path | str) -> tuple[PathRule, ...]:
            return tuple(PathRule(path=str(path), reason="conformance") for path in paths)

        ws = self.workspace
        protected = (".git/hooks", ".git/config", ".vscode", ".mcp.json", ".agent")
        writing = mode == "workspace-write"
        return Policy(
            mode=mode,
            writable=rules(ws) if writing else (),
            readable=() if writing else rules(ws),
            protected=rules(*(ws / name for name in protected)) if writing else (),
            hidden=rules(
                self.home / ".ssh",
                self.home / ".aws",
                "/etc/shadow",
                "/etc/gshadow",
                "/tmp",
                "/var/tmp",
                "/run",
            ),
            limits=LIMITS,
        )


def _facts(path: Path) -> tuple[object, ...]:
    facts = path.lstat()
    regular = stat.S_ISREG(facts.st_mode)
    contents = path.read_bytes() if regular else b""
    attributes = tuple(os.listxattr(path, follow_symlinks=False))
    times = facts.st_mtime_ns if regular else 0
    flags = _flags(path) if regular else 0
    return facts.st_mode, facts.st_uid, facts.st_gid, times, contents, attributes, flags


def _flags(path: Path) -> int:
    room = bytearray(8)
    with path.open("rb") as file:
        try:
            fcntl.ioctl(file, _GET_FLAGS, room)
        except OSError:
            return 0  # a file system without attribute flags
    return int(struct.unpack("l", room)[0])
