"""The records between host and supervisor; the same for the launcher (launcher.c) and the spawn server."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

EVENT = struct.Struct("=iiiiqqq")
REQUEST = struct.Struct("=ii")
LISTED = struct.Struct("=i16s")


# What a supervisor tells. Plain numbers, for they are compared on the way of every command.
STARTED, FAILED, EXITED, GONE, LISTED_NAMES = 1, 2, 3, 4, 5

# What EXITED and GONE say besides: bits.
FACT_LEFT, FACT_ESCALATED, FACT_UNKNOWN = 1, 2, 4


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
            event = Event(*EVENT.unpack_from(data, at))
            at += EVENT.size
            if event.kind == LISTED_NAMES:
                if len(data) - at < event.pid * LISTED.size:
                    at -= EVENT.size
                    break
                found = [LISTED.unpack_from(data, at + i * LISTED.size) for i in range(event.pid)]
                names = tuple(
                    (pid, name.partition(b"\0")[0].decode("utf-8", "replace")) for pid, name in found
                )
                event = event._replace(listed=names)
                at += event.pid * LISTED.size
            events.append(event)
        self._rest = data[at:]
        return events
