"""A stream that the program writes straight into a file, read by offset."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import anyio

from seam.subprocess_def import ByteRange, CollectedStream, Spill, StreamSummary, Window


class FileStream(CollectedStream):
    """Nobody stands between program and file, so nobody can tell of new bytes: waiting looks at the size now and then."""

    def __init__(self, path: str, is_over: Callable[[], bool], *, window: int, interval: float) -> None:
        self._path = path
        self._is_over = is_over
        self._window = window
        self._interval = interval

    @property
    def total(self) -> int:
        try:
            return os.stat(self._path).st_size  # noqa: PTH116
        except FileNotFoundError:
            return 0  # somebody removed it

    @property
    def last_output_at(self) -> float | None:
        try:
            found = os.stat(self._path)  # noqa: PTH116
        except FileNotFoundError:
            return None
        return time.monotonic() - max(0.0, time.time() - found.st_mtime) if found.st_size else None

    @property
    def ended(self) -> bool:
        return self._is_over()

    def head(self) -> bytes:
        total = self.total
        return self._read(0, total if total <= self._window else self._window // 2)

    def tail(self) -> bytes:
        total = self.total
        return b"" if total <= self._window else self._read(total - self._window // 2, self._window // 2)

    def _read(self, offset: int, size: int) -> bytes:
        try:
            with open(self._path, "rb", buffering=0) as file:  # noqa: PTH123
                return os.pread(file.fileno(), size, offset)
        except FileNotFoundError:
            return b""

    def summary(self) -> StreamSummary:
        total = self.total
        return StreamSummary(
            total=total,
            kept=(ByteRange(start=0, end=total),) if total else (),
            lost=(),
            truncated=False,
            reasons=(),
            spill=Spill(path=self._path, size=total, digest=None),
            spill_error=None,
            ended="eof" if self.ended else "open",
        )

    async def read(self, offset: int, max_bytes: int) -> Window:
        if offset < 0 or max_bytes <= 0:
            raise ValueError(f"offset {offset} must be 0 or more and max_bytes {max_bytes} at least 1")
        over = self.ended  # asked first: what is written between the two looks is then not missed
        total = self.total
        data = await anyio.to_thread.run_sync(self._read, offset, max_bytes) if offset < total else b""
        start = min(offset, total)
        return Window(
            offset=start,
            data=data,
            total=total,
            lost=None,
            ended=over and start + len(data) == total,
            spill_path=self._path,
        )

    async def wait_beyond(self, offset: int) -> bool:
        while True:
            over = self.ended
            if self.total > offset:
                return True
            if over:
                return False
            await anyio.sleep(self._interval)
