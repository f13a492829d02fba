"""What accompanies a start and is never part of a spec: secret values, and the filters that mask them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Confidential:
    """Secret values for one start: never logged, never serialised, not in errors, not shown by `repr`.

    Attributes:
        env: added to the spec's environment, winning over it.
        descriptors: bytes for the descriptors that the spec declares as `Confided`.
    """

    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    descriptors: Mapping[int, bytes] = field(default_factory=dict[int, bytes], repr=False)


@runtime_checkable
class ByteFilter(Protocol):
    """Rewrites one stream before it is kept, spilled, counted or handed to a reader; one object per stream.

    It may hold bytes back, as a masker must where a secret could continue in the next chunk. It is called
    in the order of the stream, never concurrently, and must not block. An exception it raises ends the
    process and is raised by `Process.wait`; nothing unfiltered is ever shown.
    """

    def feed(self, chunk: bytes) -> bytes:
        """Take the next bytes of the stream, return those that are decided."""
        ...

    def finish(self) -> bytes:
        """The stream has ended, or is cut off: return what was held back, masked as far as known."""
        ...
