"""From the runtime's windows to the executor's view of a stream."""

from __future__ import annotations

from seam.exec_def import (
    KeptRange,
    LossReason,
    OutputSlice,
    OutputWindow,
    StreamName,
    StreamOutput,
)
from seam.subprocess_def import CollectedStream, Window

_LONGEST_MARGIN = 4_096
_WORDS: dict[str, LossReason] = {
    "window": "window",
    "spill_cap": "spill_limit",
    "spill_failed": "spill_failed",
    "held": "held",
}


NOTHING = StreamOutput(parts=(), kept=(), total=0)
"""A stream that had nothing and reached its end."""


def margin(window: OutputWindow) -> int:
    """Return how many bytes before the tail are looked at for a character or control sequence that goes over its edge.

    A stream that is longer than the window by no more than this is kept whole.
    """
    return min(_LONGEST_MARGIN, (window.head + window.tail) // 4)


def view(stream: CollectedStream, window: OutputWindow, masked: int, *, clean: bool) -> StreamOutput:
    """Return what a result tells of a stream, as of now. `clean`: it has reached its end by itself."""
    if clean and not stream.total:
        return NOTHING
    summary = stream.summary()
    head, tail = stream.head(), stream.tail()
    total = summary.total
    losses: tuple[LossReason, ...] = tuple(_WORDS[reason] for reason in summary.reasons)
    edge = 0
    if any(reason != "held" for reason in losses):
        edge = max(0, len(tail) - window.tail)
        losses = losses if "window" in losses else ("window", *losses)
    ranges = [(KeptRange(0, len(head)), head), (KeptRange(total - len(tail) + edge, total), tail[edge:])]
    spill = summary.spill
    return StreamOutput.trusted(
        parts=tuple(part for _, part in ranges if part),
        kept=tuple(kept for kept, part in ranges if part),
        total=total,
        before=tail[:edge],
        goes_on=summary.ended == "open",
        masked=masked,
        losses=losses,
        spill_path=spill.path if spill else None,
        spill_size=spill.size if spill else 0,
        spill_digest=spill.digest if spill else None,
    )


def slice_of(stream: StreamName, window: Window) -> OutputSlice:
    """Return what a reader gets who asked for bytes from an offset."""
    return OutputSlice(
        stream=stream,
        offset=window.offset,
        data=window.data,
        lost=window.lost.end - window.lost.start if window.lost else 0,
        total=window.total,
        ended=window.ended,
        spill_path=window.spill_path,
    )
