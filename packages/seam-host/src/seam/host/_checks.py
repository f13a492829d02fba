"""What `seam doctor` looks at. Nothing is started, and no plugin is imported."""

from __future__ import annotations

import os
import platform
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from seam.host._inventory import Inventory
from seam.host._namespace import intrusions
from seam.kernel import Value

CheckState = Literal["fine", "notice", "wrong"]

FEW_FILES = 1024
"""Open files (RLIMIT_NOFILE) under which a few dozen commands at once run out."""

FEW_WATCHES = 8192
"""inotify watches of a user under which a workspace of ordinary size cannot be watched."""


class Check(Value):
    """One thing that was looked at.

    Attributes:
        state: `wrong` makes the command exit with a code of its own; a `notice` does not.
        name: what was looked at.
        text: what was found.
        remedy: what to do; empty where there is nothing to do.
    """

    state: CheckState
    name: str
    text: str
    remedy: str = ""


def environment_checks(inventory: Inventory) -> Iterator[Check]:
    """Look at platform, limits, folders and what is installed."""
    yield _platform()
    yield Check(state="fine", name="python", text=f"{platform.python_version()} at {sys.executable}")
    yield from _namespace()
    yield from _installed(inventory)
    yield _temporary_folder()
    yield _open_files()
    if sys.platform == "linux":
        yield _watches()


def _platform() -> Check:
    text = f"{platform.system()} {platform.release()} on {platform.machine()}"
    if sys.platform == "linux":
        return Check(state="fine", name="platform", text=text)
    if sys.platform == "darwin":
        return Check(
            state="notice",
            name="platform",
            text=f"{text}: no sandbox runtime, and weaker containment of processes",
            remedy="use Linux where that matters",
        )
    return Check(
        state="wrong", name="platform", text=f"{text} is not supported", remedy="use Linux (WSL 2 counts)"
    )


def _namespace() -> Iterator[Check]:
    found = intrusions()
    for intrusion in found:
        state: CheckState = "wrong" if intrusion.hidden or not intrusion.unrelated else "notice"
        yield Check(state=state, name="namespace", text=intrusion.text, remedy=intrusion.remedy)
    if not found:
        yield Check(state="fine", name="namespace", text="`seam` is shared by its distributions alone")


def _installed(inventory: Inventory) -> Iterator[Check]:
    for problem in inventory.problems:
        yield Check(state="wrong", name="metadata", text=str(problem), remedy="")
    broken = False
    for item in inventory.distributions:
        for need in inventory.incompatible(item.name):
            broken = True
            yield Check(
                state="wrong",
                name="versions",
                text=f"{item}: {need}",
                remedy=f"pip install --upgrade {item.name}",
            )
    if not broken:
        count = len(inventory.distributions)
        yield Check(state="fine", name="versions", text=f"{count} distributions of Seam fit together")


def _temporary_folder() -> Check:
    folder = tempfile.gettempdir()
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"seam")
            file.flush()
    except OSError as error:
        return Check(
            state="wrong",
            name="temporary folder",
            text=f"{folder} cannot be written: {error.strerror}; output of commands is kept there",
            remedy="free some space, or set TMPDIR to another folder",
        )
    free = os.statvfs(folder)
    return Check(
        state="fine",
        name="temporary folder",
        text=f"{folder}, {free.f_bavail * free.f_frsize >> 20} MiB free",
    )


def _open_files() -> Check:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    text = f"{soft} descriptors at once"
    if soft < FEW_FILES and soft != resource.RLIM_INFINITY:
        remedy = f"ulimit -n {min(hard, 65536) if hard != resource.RLIM_INFINITY else 65536}"
        return Check(
            state="notice", name="open files", text=f"{text}: few for many commands at once", remedy=remedy
        )
    return Check(state="fine", name="open files", text=text)


def _watches() -> Check:
    file = Path("/proc/sys/fs/inotify/max_user_watches")
    try:
        limit = int(file.read_text())
    except (OSError, ValueError):
        return Check(state="notice", name="file watches", text=f"{file} cannot be read", remedy="")
    if limit < FEW_WATCHES:
        return Check(
            state="notice",
            name="file watches",
            text=f"{limit} a user: changes of files may be polled instead of notified",
            remedy="sysctl fs.inotify.max_user_watches=524288",
        )
    return Check(state="fine", name="file watches", text=f"{limit} a user")
