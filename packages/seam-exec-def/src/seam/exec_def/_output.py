"""What a command wrote: kept in windows, complete in a spill file, counted in full."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field

from seam.exec_def._frozen import Frozen

StreamName = Literal["stdout", "stderr"]
StreamMode = Literal["separate", "merged"]
"""`separate`: two streams. `merged`: one stream, `stdout`, in the exact order of the writes."""

LossReason = Literal["window", "spill_limit", "spill_failed", "held"]
"""Why bytes are not in `data`: beyond the window, beyond the spill file's limit too, the spill file could not be written,
or reading stopped while a descendant still held the stream (what it wrote later is not even counted)."""


class OutputWindow(Frozen):
    """How many bytes of a stream a result keeps, and how many go to disk. Not part of a spec's digest.

    The first `head` and the last `tail` bytes are kept in memory. As soon as more was written, the whole
    stream goes to a spill file, up to `spill` bytes (0: no file).
    """

    head: int = Field(ge=0)
    tail: int = Field(ge=0)
    spill: int = Field(ge=0)


class KeptRange(NamedTuple):
    """Bytes `start` (included) to `end` (excluded) of a stream, counted from 0 after masking."""

    start: int
    end: int


class StreamOutput(Frozen):
    """One stream of a command, secrets masked."""

    data: bytes
    """The kept bytes, range after range."""
    kept: tuple[KeptRange, ...]
    """Which bytes of the stream `data` holds: nothing, all of it, or a head and a tail."""
    total: int
    """Bytes that the stream had, as far as it was read."""
    texts: tuple[str, ...]
    """One text for each kept range: decoded as UTF-8, without control sequences, never cut inside a character
    or sequence."""
    decode_losses: int = 0
    """How many replacement characters stand for bytes that are not UTF-8."""
    masked: int = 0
    """How many times the value of a secret was replaced."""
    losses: tuple[LossReason, ...] = ()
    """Why `data` is not the whole stream; empty if it is."""
    spill_path: str | None = None
    """File (in the world of the executor's host) with the whole stream, or with its beginning if `losses`
    says so."""
    spill_size: int = 0
    """Bytes in the spill file."""
    spill_digest: str | None = None
    """`sha256:` and the hexadecimal digest of the spill file."""

    @property
    def truncated(self) -> bool:
        """Whether `data` is not the whole stream."""
        return bool(self.losses)

    @property
    def left_out(self) -> int:
        """Bytes of the stream that `data` does not hold."""
        return self.total - len(self.data)

    @property
    def text(self) -> str:
        """The texts in one, with a statement of how many bytes are left out where some are."""
        if not self.left_out:
            return "".join(self.texts)
        where = f"; all of it is in {self.spill_path}" if self.spill_path else ""
        note = f"[... {self.left_out} of {self.total} bytes left out{where} ...]"
        head, tail = (*self.texts, "", "")[:2]
        if self.kept and self.kept[0].start > 0:
            head, tail = "", head
        return f"{head}{'' if head.endswith(chr(10)) or not head else chr(10)}{note}\n{tail}"


class OutputChunk(Frozen):
    """A piece of a stream, as it came in, secrets masked. A character or secret is never cut between two
    chunks' offsets."""

    stream: StreamName
    offset: int
    data: bytes


class OutputSlice(Frozen):
    """What a reader gets who asks for the bytes of a stream from an absolute offset."""

    stream: StreamName
    offset: int
    """Of the first byte of `data`. Greater than what was asked for if bytes in between are gone (`lost`)."""
    data: bytes
    lost: int = 0
    """Bytes between the offset that was asked for and `offset` which are neither in memory nor on disk."""
    total: int
    """Bytes that the stream had so far."""
    ended: bool
    """Whether the stream will have no more."""
    spill_path: str | None = None

    @property
    def next_offset(self) -> int:
        """Where to read on."""
        return self.offset + len(self.data)
