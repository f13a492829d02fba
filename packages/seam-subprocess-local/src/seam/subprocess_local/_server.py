"""The spawn server: one small process per runtime that starts everything; the launcher, or its slower twin in Python."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import sys
from collections.abc import Mapping, Sequence

import anyio

from seam.subprocess_def import Containment
from seam.subprocess_local._level import Level, Order

_HEAD = struct.Struct("=iiiiii")
_TERMINAL, _DETACHED, _STORED, _END = 1, 2, 4, 8
_INLINE = 65536
"""Orders up to this size, in bytes, travel in the message; larger ones in a file without a name."""


class SpawnServer(Level):
    """Hands orders to a server over a socket, descriptors included; see launcher.c for the protocol.

    Nothing is forked here: a start costs the same whatever the host's memory, and never blocks its event loop. What
    children inherit beside the spec (umask, limits, niceness) is what the host had when the server was started."""

    def __init__(self, program: Sequence[str], facts: Containment) -> None:
        self._program = program
        self._facts = facts
        self._socket: socket.socket | None = None
        self._pid = 0
        self._pidfd = -1
        self._turn = anyio.Lock()
        self._writer = OrderWriter()

    def open(self) -> None:
        """Start the server.

        Raises:
            OSError: it cannot be executed here.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            number = theirs.fileno()
            null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            try:
                actions = [(os.POSIX_SPAWN_DUP2, null, standard) for standard in range(3)]
                actions.append(
                    (os.POSIX_SPAWN_DUP2, number, number)
                )  # onto itself: inherited, in the child alone
                self._pid = os.posix_spawn(
                    self._program[0],
                    [*self._program, str(number), str(os.getpid())],
                    {},
                    file_actions=actions,
                    setsigmask=signal.valid_signals(),
                )
            finally:
                os.close(null)
                theirs.close()
            self._pidfd = os.pidfd_open(self._pid)
        except BaseException:
            ours.close()
            raise
        ours.setblocking(False)
        self._socket = ours

    async def start(self, order: Order) -> None:
        message, descriptors, stored = self._writer.write(order)
        try:
            if self._socket is None:
                self.open()
            try:
                await self._send(message, descriptors)
            except (BrokenPipeError, ConnectionResetError):  # somebody killed the server: have another one
                await self.close()
                self.open()
                await self._send(message, descriptors)
        finally:
            if stored >= 0:
                os.close(stored)

    async def _send(self, message: bytes, descriptors: Sequence[int]) -> None:
        assert self._socket is not None
        while True:
            with contextlib.suppress(BlockingIOError):  # more orders are waiting than the socket holds
                socket.send_fds(self._socket, [message], descriptors, socket.MSG_NOSIGNAL)
                return
            async with self._turn:
                await anyio.wait_writable(self._socket)

    def containment(self, *, cgroup: bool, detached: bool) -> Containment:
        facts = self._facts
        return facts.model_copy(
            update={
                "level": f"{facts.level}+cgroup" if cgroup else facts.level,
                "host_death": facts.host_death and not detached,
            }
        )

    async def close(self) -> None:
        if self._socket is None:
            return
        self._socket.close()  # the server ends when its last supervisor has
        self._socket = None
        with anyio.CancelScope(shield=True):
            await anyio.wait_readable(self._pidfd)
        self._collect()
        os.close(self._pidfd)
        self._pidfd = -1

    def _collect(self) -> None:
        # it has ended; somebody else in this process, or the kernel (SIGCHLD ignored), may have been quicker
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED)


class OrderWriter:
    """Turns orders into messages. The environment, by far the longest part, is often the same as the last time."""

    __slots__ = ("_env", "_env_text")

    def __init__(self) -> None:
        self._env: Mapping[str, str] = {}
        self._env_text = ""

    def write(self, order: Order) -> tuple[bytes, list[int], int]:
        """The message and its descriptors; the last of them, if not -1, is a file to be closed after sending.

        Raises:
            ValueError: a text contains NUL, or a name of the environment is none.
        """
        command = order.command
        body = self._body(order)
        detached = order.log >= 0
        flags = _TERMINAL * order.terminal | _DETACHED * detached | _END * (detached and order.end_survivors)
        descriptors = [order.control, *order.stdio, order.log if detached else order.control]
        head = _HEAD.pack(
            flags, order.grace_ms, len(command.argv), len(command.env), len(order.pairs), len(body)
        )
        if order.pairs:
            descriptors += [here for here, _ in order.pairs]
            head += b"".join(target.to_bytes(4, sys.byteorder) for _, target in order.pairs)
        if len(body) + 8 * (len(command.argv) + len(command.env)) <= _INLINE:
            return head + body, descriptors, -1
        stored = os.memfd_create("seam-order", os.MFD_CLOEXEC)
        _write_all(stored, body)
        descriptors.append(stored)
        return (flags | _STORED).to_bytes(4, sys.byteorder) + head[4:], descriptors, stored

    def _body(self, order: Order) -> bytes:
        command = order.command
        env = command.env
        if env is not self._env and env != self._env:
            names = "".join(env)
            if "=" in names or "\0" in names or "" in env:
                raise ValueError("a name of the environment is empty, or contains '=' or NUL")
            self._env_text = "".join([f"{name}={value}\0" for name, value in env.items()])
            self._env = dict(env)
        text = "\0".join((order.cgroup, command.cwd, command.executable, *command.argv, self._env_text))
        body = text.encode("utf-8", "surrogateescape")
        if body.count(b"\0") != 3 + len(command.argv) + len(env):
            raise ValueError("a text contains NUL")
        return body


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
