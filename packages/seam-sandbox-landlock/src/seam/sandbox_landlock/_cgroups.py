"""Control groups: limits that hold for a whole tree, and for root.

Source: cgroups(7), the kernel's `admin-guide/cgroup-v2.rst` and `admin-guide/cgroup-v1/`.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import anyio

from seam.sandbox_def import Limits
from seam.sandbox_landlock._folders import process_start

_NAME = re.compile(r"seam-(\d+)-(\d+)-[0-9a-f]{16}")
_CONTROLLERS: MappingProxyType[str, str] = MappingProxyType({"processes": "pids", "memory": "memory"})
_FILES: MappingProxyType[tuple[str, int], str] = MappingProxyType(
    {
        ("processes", 1): "pids.max",
        ("processes", 2): "pids.max",
        ("memory", 1): "memory.limit_in_bytes",
        ("memory", 2): "memory.max",
    }
)
_PATIENCE = 1.0
"""Seconds for the kernel to let go of a group whose processes have ended."""


@dataclass(frozen=True)
class Place:
    """Where groups of one controller can be made.

    Attributes:
        limit: `processes` or `memory`.
        folder: the caller's own group.
        version: of the interface, 1 or 2.
    """

    limit: str
    folder: Path
    version: int


@dataclass(frozen=True)
class Group:
    """The groups of one command: one folder in version 2, one for each controller in version 1."""

    folders: tuple[Path, ...]

    @property
    def doors(self) -> tuple[str, ...]:
        """Files to which a process writes `0` to join."""
        return tuple(str(folder / "cgroup.procs") for folder in self.folders)


class ControlGroups:
    """Makes groups below the caller's own, where that is permitted. Looked for once, by trying.

    Args:
        wanted: whether to use groups at all.
    """

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted
        self._owner = f"{os.getpid()}-{process_start(os.getpid())}"
        self._places: tuple[Place, ...] | None = None

    @property
    def places(self) -> tuple[Place, ...]:
        """Where groups can be made."""
        if self._places is None:
            found = _candidates() if self._wanted else ()
            self._places = tuple(place for place in found if self._works(place))
        return self._places

    @property
    def limits(self) -> frozenset[str]:
        """The limits that a group can enforce here."""
        return frozenset(place.limit for place in self.places)

    def make(self, limits: Limits, *, runners: int) -> Group | None:
        """Groups with these limits, `None` where none is needed or possible.

        Args:
            limits: of the policy.
            runners: processes of the sandbox itself that will be in the group.

        Raises:
            OSError: a group that was possible before cannot be made.
        """
        wanted = [place for place in self.places if getattr(limits, place.limit) is not None]
        name = f"seam-{self._owner}-{secrets.token_hex(8)}"
        made: list[Path] = []
        try:
            for place in wanted:
                folder = place.folder / name
                if folder not in made:
                    folder.mkdir()
                    made.append(folder)
                value = getattr(limits, place.limit) + (runners if place.limit == "processes" else 0)
                (folder / _FILES[place.limit, place.version]).write_text(str(value), "ascii")
        except OSError:
            for folder in made:
                folder.rmdir()
            raise
        return Group(tuple(made)) if made else None

    async def remove(self, group: Group) -> list[tuple[str, str]]:
        """Remove the groups of a command that has ended. Returns what is left, with the reason."""
        left: list[tuple[str, str]] = []
        for folder in group.folders:
            problem = "processes are still in it"
            with anyio.move_on_after(_PATIENCE):
                problem = await _remove(folder)
            if problem:
                left.append((str(folder), problem))
        return left

    def remove_now(self, group: Group) -> None:
        """Remove groups without waiting; what is still busy is swept at the next start."""
        for folder in group.folders:
            _try_remove(folder)

    def sweep(self) -> None:
        """Remove groups whose owner is dead and that are empty."""
        for place in self.places:
            for folder in place.folder.glob("seam-*"):
                match = _NAME.fullmatch(folder.name)
                if match and process_start(int(match[1])) != match[2]:
                    _try_remove(folder)

    def _works(self, place: Place) -> bool:
        folder = place.folder / f"seam-{self._owner}-{secrets.token_hex(8)}"
        try:
            folder.mkdir()
        except OSError:
            return False
        limit = folder / _FILES[place.limit, place.version]
        works = limit.exists() and os.access(limit, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)
        folder.rmdir()
        return works


async def _remove(folder: Path) -> str:
    while True:
        if _try_remove(folder):
            return ""
        await anyio.sleep(0.002)


def _try_remove(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False  # busy: something in it has not been reaped yet
    return True


def _candidates() -> Iterator[Place]:
    """The caller's own group of each controller, as /proc/self tells it."""
    own: dict[str, str] = {}
    for line in _lines("/proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        own |= dict.fromkeys(controllers.split(",") if controllers else [""], path)
    for line in _lines("/proc/self/mountinfo"):
        front, _, back = line.partition(" - ")
        kind, _, options = back.split(" ", 2)
        mounted = front.split(" ")[4]
        for limit, controller in _CONTROLLERS.items():
            if kind == "cgroup2":
                yield Place(limit, _folder(mounted, own.get("", "/")), 2)
            elif kind == "cgroup" and controller in options.split(","):
                yield Place(limit, _folder(mounted, own.get(controller, "/")), 1)


def _folder(mounted: str, path: str) -> Path:
    inner = Path(mounted, path.lstrip("/"))
    return inner if inner.is_dir() else Path(mounted)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []  # no control groups in this kernel, or /proc is not there
