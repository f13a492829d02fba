"""Standard input as lines that can be waited for and given up at once.

The SDK reads it in a thread, which nothing can stop while the client keeps the pipe open and says nothing: a termination signal
would wait for the client.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from typing import cast

import anyio
import anyio.lowlevel

CHUNK = 65536
"""Bytes that are read at once."""


class StandardInput:
    """The lines of a descriptor, as text; bytes that are not UTF-8 are replaced, and the message that holds them is refused."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waits = not stat.S_ISREG(
            os.fstat(descriptor).st_mode
        )  # a file is always ready, and cannot be polled

    async def __aiter__(self) -> AsyncIterator[str]:
        left = bytearray()
        while True:
            if self._waits:
                await anyio.wait_readable(self._descriptor)
            else:
                await anyio.lowlevel.checkpoint()
            chunk = os.read(self._descriptor, CHUNK)
            if not chunk:
                break
            left += chunk
            if b"\n" in chunk:
                *lines, left = left.split(b"\n")
                for line in lines:
                    yield line.decode(errors="replace")
        if left:
            yield left.decode(errors="replace")


@contextmanager
def standard_input() -> Generator[anyio.AsyncFile[str]]:
    """Take descriptor 0 for the door: what else reads it meanwhile, a child included, finds it empty."""
    private = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.dup2(nothing, 0)
        # the SDK iterates over it and does nothing else with it
        yield cast("anyio.AsyncFile[str]", StandardInput(private))
    finally:
        os.dup2(private, 0)
        os.close(private)
        os.close(nothing)
