"""What is known of a collected stream: windows by absolute offset, losses typed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seam.kernel import Value


class ByteRange(Value):
    """Bytes from `start` up to, not including, `end`; 0-based absolute offsets in the stream after its
    filter."""

    start: int
    end: int


class Window(Value):
    """The answer to one read: `data` starts at `offset`, which is where it was asked for unless bytes were
    `lost`."""

    offset: int
    data: bytes = Field(repr=False)
    total: int = Field(description="Bytes that the stream has had so far.")
    lost: ByteRange | None = Field(description="Bytes that were asked for and exist nowhere any more.")
    ended: bool = Field(description="Nothing will follow this window's data.")
    spill_path: str | None = Field(
        description="The file that holds the stream from offset 0 up to the spill cap."
    )

    @property
    def next_offset(self) -> int:
        """Where the next read should start."""
        return self.offset + len(self.data)


class Spill(Value):
    """The file of a stream that did not fit into memory: mode 0600 in a 0700 folder, a path of the world."""

    path: str
    size: int = Field(description="Bytes in the file, which are the stream's first `size` bytes.")
    digest: str | None = Field(
        description="`sha256:` and hex digits over the file; None until the stream has ended."
    )


LossReason = Literal["window", "spill_cap", "spill_failed", "held"]
"""Why bytes are not in memory: they are in the file (`window`), beyond the cap, the file could not be
written, or reading stopped while a descendant still held the stream (`held`: what it wrote later is not
counted)."""


class StreamSummary(Value):
    """A collected stream as a whole."""

    total: int = Field(description="Bytes that the stream has had, after its filter.")
    kept: tuple[ByteRange, ...] = Field(
        description="Ranges in memory, in order: everything, or head and tail."
    )
    lost: tuple[ByteRange, ...] = Field(description="Ranges that are neither in memory nor in the file.")
    truncated: bool = Field(description="`kept` is not everything.")
    reasons: tuple[LossReason, ...]
    spill: Spill | None
    spill_error: str | None = Field(description="Why the file could not be written (to its end).")
    ended: Literal["open", "eof", "held"] = Field(
        description="Still read, read to its end, or cut off by the drain."
    )
