"""The records between host and supervisor; the same for the launcher (launcher.c) and the spawn server."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

EVENT = struct.Struct("=iiiiqqq")
REQUEST = struct.Struct("=ii")
LISTED = struct.Struct("=i16s")


class Kind(IntEnum):
    """What a supervisor tells."""

    STARTED = 1
    FAILED = 2
    EXITED = 3
    GONE = 4
    LISTED = 5


class Fact(IntEnum):
    """Bits that EXITED and GONE say besides."""

    LEFT = 1
    ESCALATED = 2
    UNKNOWN = 4


class Stage(IntEnum):
    """Where a start failed."""

    PROCESS = 1
    DESCRIPTORS = 2
    DIRECTORY = 3
    EXECUTE = 4
    CGROUP = 5
    TERMINAL = 6


class Request(IntEnum):
    """What a supervisor is asked."""

    TERMINATE = 1
    SIGNAL = 2
    LIST = 3


class Event(NamedTuple):
    """One record; which field means what, see `struct event` in launcher.c."""

    kind: int
    pid: int
    status: int
    facts: int
    user_us: int
    system_us: int
    peak_kib: int
    listed: tuple[tuple[int, str], ...] = ()


class EventReader:
    """Cuts a byte stream into events."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes, return the events that are complete."""
        data = self._rest + data if self._rest else data
        events: list[Event] = []
        at = 0
        while len(data) - at >= EVENT.size:
            event = Event._make((*EVENT.unpack_from(data, at), ()))
            after = at + EVENT.size
            if event.kind == Kind.LISTED:
                if len(data) - after < event.pid * LISTED.size:
                    break
                found = [LISTED.unpack_from(data, after + i * LISTED.size) for i in range(event.pid)]
                names = tuple((pid, name.rstrip(b"\0").decode("utf-8", "replace")) for pid, name in found)
                event = Event(event.kind, event.pid, 0, 0, 0, 0, 0, names)
                after += event.pid * LISTED.size
            events.append(event)
            at = after
        self._rest = data[at:]
        return events
