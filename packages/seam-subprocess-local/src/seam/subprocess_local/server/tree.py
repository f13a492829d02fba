"""Which processes belong to a tree, read from /proc; runs in the spawn server, with the standard library alone."""

from __future__ import annotations

import os
from dataclasses import dataclass

MARK = "SEAM_PROCESS"
"""The variable by which level `scan` knows its own; the other levels add nothing to an environment."""


@dataclass(frozen=True)
class Seen:
    """One process as /proc showed it."""

    pid: int
    parent: int
    session: int
    name: str
    dead: bool


def look() -> list[Seen]:
    """Every process that can be seen now."""
    found: list[Seen] = []
    for entry in os.listdir("/proc"):  # noqa: PTH208 - numbers, not paths
        if entry.isdecimal():
            seen = _read(int(entry))
            if seen is not None:
                found.append(seen)
    return found


def _read(pid: int) -> Seen | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            text = file.read()
    except OSError:
        return None  # gone between the listing and the look
    start, end = text.index(b"("), text.rindex(b")")  # the name may hold parentheses itself
    fields = text[end + 2 :].split()
    name = text[start + 1 : end].decode("utf-8", "replace")
    return Seen(pid, int(fields[1]), int(fields[3]), name, fields[0] in (b"Z", b"X"))


def descendants(root: int, processes: list[Seen]) -> list[Seen]:
    """The tree below `root`, in whatever order the processes are listed or numbered; zombies are left out."""
    known = {root}
    found: list[Seen] = []
    rest = processes
    while True:
        new = [seen for seen in rest if seen.parent in known and seen.pid not in known]
        if not new:
            return [seen for seen in found if not seen.dead]
        known.update(seen.pid for seen in new)
        found += new
        rest = [seen for seen in rest if seen.pid not in known]


def marked(mark: str, leader: int, processes: list[Seen]) -> list[Seen]:
    """What level `scan` finds: descendants of the leader, members of its session, and who carries its mark."""
    own = {seen.pid for seen in descendants(leader, processes)} | {leader}
    return [
        seen
        for seen in processes
        if not seen.dead and (seen.pid in own or seen.session == leader or _carries(seen.pid, mark))
    ]


def _carries(pid: int, mark: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return f"{MARK}={mark}".encode() in file.read().split(b"\0")
    except OSError:
        return False  # gone, or of another user
