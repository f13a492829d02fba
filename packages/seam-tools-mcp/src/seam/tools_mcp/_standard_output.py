"""Standard output as a place where messages go without a thread, and where a client that does not read can be given up at once.

The SDK writes and flushes in a thread each: two switches for every answer, and a write that nothing can stop while the client
leaves its pipe full.
"""

from __future__ import annotations

import fcntl
import math
import os
import select
import socket
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import anyio.lowlevel


class StandardOutput:
    """Text for a descriptor. A write never blocks the event loop, and leaves the descriptor's flags alone: others share them."""

    def __init__(self, descriptor: int) -> None:
        mode = os.fstat(descriptor).st_mode
        self._descriptor = descriptor
        self._waits = not stat.S_ISREG(mode)  # a file is always ready, and cannot be polled
        self._ready = select.poll()
        self._ready.register(descriptor, select.POLLOUT)
        self._socket = socket.socket(fileno=os.dup(descriptor)) if stat.S_ISSOCK(mode) else None
        self._until = math.inf
        self._waiting: anyio.CancelScope | None = None

    async def write(self, text: str) -> int:
        """Write all of it, or as much as a client takes in time that has said its last word.

        Raises:
            BrokenPipeError: nobody can read it any more.
        """
        left = memoryview(text.encode())
        with anyio.CancelScope(deadline=self._until) as self._waiting:
            while left:
                written = self._put(left)
                left = left[written:]
                if not written:
                    await anyio.wait_writable(self._descriptor)
        return len(text)

    def last_words(self, seconds: float) -> None:
        """The client sends nothing more: what it does not take within so long is given up."""
        self._until = anyio.current_time() + seconds
        if self._waiting is not None:
            self._waiting.deadline = self._until

    def _put(self, data: memoryview) -> int:
        """As much as goes without waiting; 0 where nothing does."""
        if not self._waits:
            return os.write(self._descriptor, data)
        if self._socket is not None:  # being ready says nothing about how much a socket takes
            try:
                return self._socket.send(data, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return 0
        # what is ready, a pipe or a terminal, takes so much at once: that is the promise of PIPE_BUF
        return os.write(self._descriptor, data[: select.PIPE_BUF]) if self._ready.poll(0) else 0

    async def flush(self) -> None:
        """Nothing is held back."""
        await anyio.lowlevel.checkpoint_if_cancelled()

    def close(self) -> None:
        """Give back what it made for itself; the descriptor is its giver's."""
        if self._socket is not None:
            self._socket.close()


@contextmanager
def standard_output() -> Generator[StandardOutput]:
    """Take descriptor 1 for the door: what else prints meanwhile, a child included, lands on standard error."""
    private = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    wire = StandardOutput(private)
    try:
        os.dup2(2, 1)
        yield wire
    finally:
        sys.stdout.flush()  # what was printed and is still held back must not follow the last message
        wire.close()
        os.dup2(private, 1)
        os.close(private)
