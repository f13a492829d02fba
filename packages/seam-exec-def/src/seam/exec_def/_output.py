"""What a command wrote: kept in windows, complete in a spill file, counted in full."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, NamedTuple

from pydantic import Field

from seam.exec_def._text import PlainText, plain_text
from seam.kernel import Value

StreamName = Literal["stdout", "stderr"]
StreamMode = Literal["separate", "merged"]
"""`separate`: two streams. `merged`: one stream, `stdout`, in the exact order of the writes."""

LossReason = Literal["window", "spill_limit", "spill_failed", "held"]
"""Why bytes are not in `data`: beyond the window, beyond the spill file's limit too, the spill file could not be written,
or reading stopped while a descendant still held the stream (what it wrote later is not even counted)."""


class OutputWindow(Value):
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


class StreamOutput(Value):
    """One stream of a command, secrets masked.

    What a model or person reads (`texts`, `text`) is a view of the bytes, made when it is asked for.
    """

    parts: tuple[bytes, ...] = Field(repr=False)
    """The kept bytes, one part for each kept range."""
    kept: tuple[KeptRange, ...]
    """Which bytes of the stream the parts are: nothing, all of it, a head, a tail, or a head and a tail."""
    total: int
    """Bytes that the stream had, as far as it was read."""
    before: bytes = Field(default=b"", repr=False)
    """Bytes right before a tail, so that what began there (a character, a control sequence) is not shown by halves."""
    goes_on: bool = False
    """The stream had not reached its end: the command runs on, in other hands."""
    masked: int = 0
    """How many times the value of a secret was replaced."""
    losses: tuple[LossReason, ...] = ()
    """Why the parts are not the whole stream; empty if they are."""
    spill_path: str | None = None
    """File (a path of the world) with the whole stream, or with its beginning if `losses` says so."""
    spill_size: int = 0
    """Bytes in the spill file."""
    spill_digest: str | None = None
    """`sha256:` and the hexadecimal digest of the spill file."""

    @property
    def data(self) -> bytes:
        """The kept bytes, range after range."""
        return self.parts[0] if len(self.parts) == 1 else b"".join(self.parts)

    @property
    def truncated(self) -> bool:
        """Whether the kept bytes are not the whole stream."""
        return bool(self.losses)

    @property
    def left_out(self) -> int:
        """Bytes of the stream that are not kept."""
        return self.total - sum(map(len, self.parts))

    @cached_property
    def _views(self) -> tuple[PlainText, ...]:
        return tuple(
            plain_text(
                part,
                before=self.before if kept.start > 0 else b"",
                cut=self.goes_on or kept.end < self.total,
            )
            for part, kept in zip(self.parts, self.kept, strict=True)
        )

    @property
    def texts(self) -> tuple[str, ...]:
        """One text for each kept range: decoded as UTF-8, without control sequences, never cut inside a character or sequence."""
        return tuple(view.text for view in self._views)

    @property
    def decode_losses(self) -> int:
        """How many replacement characters stand for bytes that are not UTF-8."""
        return sum(view.losses for view in self._views)

    @property
    def text(self) -> str:
        """The texts in one, with a statement of how many bytes are left out where some are."""
        if not self.left_out:
            return "".join(self.texts)
        where = f"; all of it is in {self.spill_path}" if self._is_whole_on_disk else ""
        note = f"[... {self.left_out} of {self.total} bytes left out{where} ...]"
        head, tail = (*self.texts, "", "")[:2]
        if self.kept and self.kept[0].start > 0:
            head, tail = "", head
        return f"{head}{'' if head.endswith(chr(10)) or not head else chr(10)}{note}\n{tail}"

    @property
    def _is_whole_on_disk(self) -> bool:
        return self.spill_path is not None and self.spill_size == self.total


class OutputChunk(Value):
    """A piece of a stream, as it came in, secrets masked. A character or secret is never cut between two
    chunks' offsets."""

    stream: StreamName
    offset: int
    data: bytes


class OutputSlice(Value):
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
