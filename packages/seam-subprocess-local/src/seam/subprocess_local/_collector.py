"""A stream that is read continuously into windows and a spill file."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable
from typing import Literal

import anyio
import anyio.lowlevel

from seam.subprocess_def import (
    ByteFilter,
    ByteRange,
    Collect,
    CollectedStream,
    LossReason,
    StreamSummary,
    Window,
)
from seam.subprocess_local._poller import Poller
from seam.subprocess_local._spill import SpillFile, SpillFolder
from seam.subprocess_local._windows import Windows

_PIPE_DEFAULT = 65536  # pipe(7): a read of this size says that the writer is ahead of us


class ReadBuffer:
    """One buffer for all reads of a runtime: reading allocates nothing."""

    __slots__ = ("pipe_bytes", "view")

    def __init__(self, size: int, pipe_bytes: int) -> None:
        self.view = memoryview(bytearray(size))
        self.pipe_bytes = pipe_bytes


class Collector(CollectedStream):
    """Reads a pipe whenever the poller says so; ends at end-of-file, or when it is cut off."""

    __slots__ = (
        "_buffer",
        "_descriptor",
        "_ended",
        "_filter",
        "_folder",
        "_on_end",
        "_poller",
        "_spec",
        "_spill",
        "_waiter",
        "_windows",
        "filter_error",
        "last",
    )

    def __init__(
        self,
        descriptor: int,
        spec: Collect,
        byte_filter: ByteFilter | None,
        *,
        poller: Poller,
        buffer: ReadBuffer,
        folder: SpillFolder,
        on_end: Callable[[Collector], None],
    ) -> None:
        self._descriptor = descriptor
        self._spec = spec
        self._filter = byte_filter
        self._poller = poller
        self._buffer = buffer
        self._folder = folder
        self._on_end = on_end
        self._windows = Windows(spec.head_bytes, spec.max_bytes - spec.head_bytes)
        self._spill: SpillFile | None = None
        self._waiter: anyio.Event | None = None
        self._ended: Literal["open", "eof", "held"] = "open"
        self.last: float | None = None
        self.filter_error: Exception | None = None
        poller.add(descriptor, self._ready)

    # -- reading the pipe --

    def _ready(self, over: bool) -> None:
        """The pipe has bytes, or its end. It is a blocking one: read once, or up to the end when all writers are gone."""
        view = self._buffer.view
        budget = len(view)
        while True:
            size = os.readv(self._descriptor, [view])
            if size == 0:
                self.end("eof")
                return
            self._take(view[:size])
            if size == _PIPE_DEFAULT and not over:
                self._enlarge()
            budget -= size
            if not over or budget <= 0 or self._ended != "open":
                return

    def _enlarge(self) -> None:
        if self._buffer.pipe_bytes > _PIPE_DEFAULT:
            # EPERM or EBUSY: the user's share of pipe memory is spent (pipe(7)); it only gets slower
            with contextlib.suppress(OSError):
                fcntl.fcntl(self._descriptor, fcntl.F_SETPIPE_SZ, self._buffer.pipe_bytes)

    def _take(self, data: memoryview) -> None:
        self.last = time.monotonic()
        if self._filter is None:
            self._keep(data)
            return
        try:
            self._keep(memoryview(self._filter.feed(bytes(data))))
        except Exception as problem:  # the caller's code: whatever it raises, nothing unfiltered may be kept
            self._fail(problem)

    def _keep(self, data: memoryview) -> None:
        if not data:
            return
        windows = self._windows
        if self._spec.spill_bytes:
            if self._spill is None and windows.total + len(data) > self._spec.max_bytes:
                self._spill = SpillFile(self._folder, self._spec.spill_bytes)
                self._spill.write(windows.head())
            if self._spill is not None:
                self._spill.write(data)
        windows.add(data)
        self._wake()

    def _fail(self, problem: Exception) -> None:
        self.filter_error = problem
        self._filter = None
        self.end("held")

    def end(self, how: Literal["eof", "held"]) -> None:
        """Stop reading: flush the filter, settle the file, close the pipe. Idempotent."""
        if self._ended != "open":
            return
        self._ended = how
        if self._filter is not None:
            try:
                self._keep(memoryview(self._filter.finish()))
            except Exception as problem:  # see _take
                self.filter_error = problem
        if self._spill is not None:
            self._spill.close()
        self._poller.remove(self._descriptor)
        os.close(self._descriptor)
        self._wake()
        self._on_end(self)

    def _wake(self) -> None:
        if self._waiter is not None:
            self._waiter.set()
            self._waiter = None

    # -- what others see --

    @property
    def total(self) -> int:
        return self._windows.total

    @property
    def last_output_at(self) -> float | None:
        return self.last

    @property
    def ended(self) -> bool:
        return self._ended != "open"

    def head(self) -> bytes:
        return self._windows.head()

    def tail(self) -> bytes:
        return self._windows.tail()

    def summary(self) -> StreamSummary:
        windows, spill = self._windows, self._spill
        reasons: list[LossReason] = []
        kept: tuple[ByteRange, ...] = (
            (ByteRange.trusted(start=0, end=windows.total),) if windows.total else ()
        )
        lost: tuple[ByteRange, ...] = ()
        if not windows.whole:
            parts = [(0, windows.head_end), (windows.tail_start, windows.total)]
            kept = tuple(ByteRange(start=start, end=end) for start, end in parts if end > start)
            gap_start = max(windows.head_end, spill.size if spill else 0)
            if gap_start < windows.tail_start:
                lost = (ByteRange(start=gap_start, end=windows.tail_start),)
                reasons.append("spill_failed" if spill and spill.error else "spill_cap")
            if spill and spill.size > windows.head_end:
                reasons.insert(0, "window")
        if self._ended == "held":
            reasons.append("held")
        return StreamSummary.trusted(
            total=windows.total,
            kept=kept,
            lost=lost,
            truncated=bool(reasons),
            reasons=tuple(reasons),
            spill=spill.facts() if spill else None,
            spill_error=spill.error if spill else None,
            ended=self._ended,
        )

    async def read(self, offset: int, max_bytes: int) -> Window:
        if offset < 0 or max_bytes <= 0:
            raise ValueError(f"offset {offset} must be 0 or more and max_bytes {max_bytes} at least 1")
        await anyio.lowlevel.checkpoint()
        windows, spill = self._windows, self._spill
        start = min(offset, windows.total)
        lost = None
        data = windows.read(start, max_bytes)
        if data is None:  # between the windows: on disk, or gone
            data = spill.read(start, min(max_bytes, windows.tail_start - start)) if spill else b""
            if not data:
                lost = ByteRange(start=start, end=windows.tail_start)
                start = windows.tail_start
                data = windows.read(start, max_bytes) or b""
        return Window(
            offset=start,
            data=data,
            total=windows.total,
            lost=lost,
            ended=self._ended != "open" and start + len(data) == windows.total,
            spill_path=spill.path if spill else None,
        )

    async def wait_beyond(self, offset: int) -> bool:
        while self._windows.total <= offset:
            if self._ended != "open":
                return False
            if self._waiter is None:
                self._waiter = anyio.Event()
            await self._waiter.wait()
        return True
