"""A large output, a plain loop that does the same work with it, and the memory it costs."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import psutil

MIB = 1 << 20
READ_BYTES = MIB


@contextmanager
def source(size: int) -> Generator[list[str], None, None]:
    """A command that prints `size` bytes of text lines, as fast as `cat` can."""
    with tempfile.NamedTemporaryFile(prefix="seam-bench-") as file:
        block = min(size, 64 * MIB)
        file.write(
            (b"a line of output that a build could have written, with its number\n" * (block // 60))[:block]
        )
        file.flush()
        yield ["cat", *[file.name] * (size // block)]


def plain_loop(command: list[str], *, spill: bool) -> float:
    """Read, and where asked for write and hash, as straight as Python can."""
    digest = hashlib.sha256()
    with tempfile.TemporaryFile(prefix="seam-bench-") as file:
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as process:
            assert process.stdout is not None
            source = process.stdout.fileno()
            while data := os.read(source, READ_BYTES):
                if spill:
                    file.write(data)
                    digest.update(data)
        return time.perf_counter() - began


class Peak:
    """How much resident memory this process gains at most."""

    def __init__(self) -> None:
        self._me = psutil.Process()
        self._before = self._me.memory_info().rss
        self.bytes = 0

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            self.bytes = max(self.bytes, self._me.memory_info().rss - self._before)
            await anyio.sleep(0.005)
