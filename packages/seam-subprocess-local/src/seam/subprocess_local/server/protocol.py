"""Orders and events as launcher.c has them; runs in the spawn server, with the standard library alone."""

from __future__ import annotations

import array
import os
import resource
import socket
import struct
from dataclasses import dataclass

EVENT = struct.Struct("=iiiiqqq")
REQUEST = struct.Struct("=ii")
LISTED = struct.Struct("=i16s")
HEAD = struct.Struct("=iiiiii")

STARTED, FAILED, EXITED, GONE, LIST = 1, 2, 3, 4, 5
PROCESS, DESCRIPTORS, DIRECTORY, EXECUTE, CGROUP, TERMINAL = 1, 2, 3, 4, 5, 6
TERMINATE, SIGNAL, ASK_LIST = 1, 2, 3
FACT_LEFT, FACT_ESCALATED = 1, 2
FLAG_TERMINAL, FLAG_DETACHED, FLAG_STORED, FLAG_END = 1, 2, 4, 8

LIST_MAX = 64
_MESSAGE_MAX = 1 << 18
_DESCRIPTORS_MAX = 253


@dataclass
class Order:
    """One order, with its descriptors in this process."""

    flags: int
    grace: float
    cgroup: bytes
    cwd: bytes
    file: bytes
    argv: list[bytes]
    env: dict[bytes, bytes]
    targets: list[int]
    descriptors: list[int]

    @property
    def detached(self) -> bool:
        """The tree outlives the host."""
        return bool(self.flags & FLAG_DETACHED)

    def close(self) -> None:
        """Close everything that came with the order."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors.clear()


def receive(orders: socket.socket) -> Order | None:
    """Take one order; None when the host has closed the socket."""
    message, extra, _, _ = orders.recvmsg(_MESSAGE_MAX, socket.CMSG_SPACE(4 * _DESCRIPTORS_MAX))
    numbers = array.array("i")
    for _, _, data in extra:
        numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    if len(message) < HEAD.size or not numbers:
        return None
    flags, grace_ms, argc, envc, pairs, size = HEAD.unpack_from(message)
    descriptors = list(numbers)
    targets = list(struct.unpack_from(f"={pairs}i", message, HEAD.size))
    body = message[HEAD.size + 4 * pairs :]
    if flags & FLAG_STORED:
        stored = descriptors.pop()
        body = _read(stored, size)
        os.close(stored)
    texts = body.split(b"\0")
    env = (text.partition(b"=") for text in texts[3 + argc : 3 + argc + envc])
    return Order(
        flags=flags,
        grace=grace_ms / 1000,
        cgroup=texts[0],
        cwd=texts[1],
        file=texts[2],
        argv=texts[3 : 3 + argc],
        env={name: value for name, _, value in env},
        targets=targets,
        descriptors=descriptors,
    )


def _read(descriptor: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += os.pread(descriptor, size - len(data), len(data))
    return data


def event(kind: int, pid: int, status: int, facts: int) -> bytes:
    """A record for the host."""
    if kind not in (EXITED, GONE):
        return EVENT.pack(kind, pid, status, facts, 0, 0, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = round(used.ru_utime * 1e6), round(used.ru_stime * 1e6)
    return EVENT.pack(kind, pid, status, facts, user, system, used.ru_maxrss)
