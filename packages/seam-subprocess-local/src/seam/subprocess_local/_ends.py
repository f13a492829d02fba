"""What a handle holds of its process: how to treat it, and the ends of its streams that stay here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from seam.subprocess_def import CollectedStream, Containment, StreamId, StreamUnavailable
from seam.subprocess_local._collector import Collector
from seam.subprocess_local._pipes import Feeder, PipeSink, PipeSource

StreamT = TypeVar("StreamT")


@dataclass(slots=True)
class Manner:
    """How a process is treated: what its spec and the configuration decided."""

    grace: float
    drain: float
    keep_survivors: bool
    detached: bool
    settle: float
    patience: float
    containment: Containment
    cgroup: str


@dataclass(slots=True)
class Streams:
    """The ends of a process's streams that stay here."""

    collected: dict[StreamId, CollectedStream]
    sources: dict[StreamId, PipeSource]
    sinks: dict[StreamId, PipeSink]
    feeders: list[Feeder]

    def collectors(self) -> list[tuple[StreamId, Collector]]:
        """Those that are read continuously."""
        return [(stream, found) for stream, found in self.collected.items() if isinstance(found, Collector)]

    def close(self) -> None:
        """Close whatever is still open; windows stay readable."""
        for _, collector in self.collectors():
            collector.end("held")
        if self.sources or self.sinks or self.feeders:
            for end in (*self.sources.values(), *self.sinks.values(), *self.feeders):
                end.close()


def find(found: dict[StreamId, StreamT], stream: StreamId, wanted: str) -> StreamT:
    """The end of a stream, or the error that says which ones there are."""
    try:
        return found[stream]
    except KeyError:
        raise StreamUnavailable(
            f"the spec did not make {stream} {wanted}; it has {sorted(map(str, found)) or 'none'} of that kind",
            stream=stream,
            wanted=wanted,
            kind=None,
        ) from None
