"""Raw byte streams in the caller's hands, and the feeding of bytes that are known at the start."""

from __future__ import annotations

import errno
import os

import anyio
import anyio.lowlevel
from anyio.abc import ByteReceiveStream, ByteSendStream, ByteStream

from seam.subprocess_def import ByteFilter
from seam.subprocess_local._poller import WRITE, Poller


class PipeSource(ByteReceiveStream):
    """The reading end of a pipe or of a terminal; non-blocking."""

    def __init__(self, descriptor: int, byte_filter: ByteFilter | None) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._filter = byte_filter
        self._rest = b""
        self._at_end = False
        self.filter_error: Exception | None = None

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """The next bytes, filtered.

        Raises:
            anyio.EndOfStream: nothing follows.
            anyio.ClosedResourceError: this end was closed.
        """
        await anyio.lowlevel.checkpoint()
        while not self._rest:
            if self._at_end:
                raise anyio.EndOfStream
            data = await self._read(max_bytes)
            self._at_end = not data
            self._rest = self._filtered(data)
        data, self._rest = self._rest[:max_bytes], self._rest[max_bytes:]
        return data

    def _filtered(self, data: bytes) -> bytes:
        if self._filter is None:
            return data
        return self._filter.feed(data) if data else self._filter.finish()

    async def _read(self, max_bytes: int) -> bytes:
        while True:
            if self._descriptor < 0:
                raise anyio.ClosedResourceError
            try:
                return os.read(self._descriptor, max_bytes)
            except BlockingIOError:
                await anyio.wait_readable(self._descriptor)
            except OSError as problem:
                if problem.errno == errno.EIO:  # how a terminal says that its last process is gone
                    return b""
                raise

    async def aclose(self) -> None:
        self.close()
        await anyio.lowlevel.checkpoint()

    def close(self) -> None:
        """Close this end now. Idempotent; wakes whoever waits."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            anyio.notify_closing(descriptor)
            os.close(descriptor)


class PipeSink(ByteSendStream):
    """The writing end of a pipe or of a terminal; non-blocking."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor

    async def send(self, item: bytes) -> None:
        """Write all bytes.

        Raises:
            anyio.BrokenResourceError: nobody reads them any more.
            anyio.ClosedResourceError: this end was closed.
        """
        await anyio.lowlevel.checkpoint()
        rest = memoryview(item)
        while rest:
            if self._descriptor < 0:
                raise anyio.ClosedResourceError
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._descriptor)
            except OSError as problem:
                if problem.errno not in (errno.EPIPE, errno.EIO):
                    raise
                raise anyio.BrokenResourceError from None

    async def aclose(self) -> None:
        self.close()
        await anyio.lowlevel.checkpoint()

    def close(self) -> None:
        """Close this end now. Idempotent; wakes whoever waits."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            anyio.notify_closing(descriptor)
            os.close(descriptor)


class TerminalStream(ByteStream):
    """Both directions of a terminal over one descriptor."""

    def __init__(self, descriptor: int, byte_filter: ByteFilter | None) -> None:
        self._source = PipeSource(descriptor, byte_filter)
        self._sink = PipeSink(os.dup(descriptor))

    async def receive(self, max_bytes: int = 65536) -> bytes:
        return await self._source.receive(max_bytes)

    async def send(self, item: bytes) -> None:
        await self._sink.send(item)

    async def send_eof(self) -> None:
        """A terminal has no half-close: this types the end-of-file character (Ctrl-D)."""
        await self._sink.send(b"\x04")

    async def aclose(self) -> None:
        self.close()
        await anyio.lowlevel.checkpoint()

    def close(self) -> None:
        """Close both directions now."""
        self._source.close()
        self._sink.close()


class Feeder:
    """Writes known bytes into a pipe as the program takes them, then closes it."""

    __slots__ = ("_descriptor", "_poller", "_rest", "_watched")

    def __init__(self, descriptor: int, data: bytes, poller: Poller) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._rest = memoryview(data)
        self._poller = poller
        self._watched = False
        self._write(False)
        if self._descriptor >= 0:
            self._watched = True
            poller.add(descriptor, self._write, WRITE)

    def _write(self, over: bool) -> None:
        del over  # the write itself tells
        try:
            while self._rest:
                self._rest = self._rest[os.write(self._descriptor, self._rest) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            pass  # the program reads no more: not an error, it may have had enough
        self.close()

    def close(self) -> None:
        """Give up what is not written yet. Idempotent."""
        if self._descriptor < 0:
            return
        if self._watched:
            self._poller.remove(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = -1
        self._rest = memoryview(b"")
