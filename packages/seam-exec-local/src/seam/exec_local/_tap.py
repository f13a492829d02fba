"""What every byte of a stream passes on its way: masking, then whoever watches."""

from __future__ import annotations

from collections.abc import Callable

from seam.exec_def import HookFailure, OutputChunk, Progress, StreamName
from seam.exec_local._masking import Masker


class Tap:
    """A `ByteFilter` of seam-subprocess-def that masks, and tells watchers what is decided."""

    __slots__ = ("_failures", "_masker", "_offset", "_stream", "_watchers")

    def __init__(self, stream: StreamName, masker: Masker | None, failures: list[HookFailure]) -> None:
        self._stream: StreamName = stream
        self._masker = masker
        self._failures = failures
        self._watchers: dict[object, Progress] = {}
        self._offset = 0

    @property
    def masked(self) -> int:
        """How many values were replaced so far."""
        return self._masker.masked if self._masker else 0

    def watch(self, progress: Progress) -> Callable[[], None]:
        """Tell `progress` each piece from now on; returns how to stop that."""
        token = object()
        self._watchers[token] = progress

        def leave() -> None:
            self._watchers.pop(token, None)

        return leave

    def feed(self, chunk: bytes) -> bytes:
        """Take the next bytes, return what is decided."""
        return self._tell(chunk if self._masker is None else self._masker.feed(chunk))

    def finish(self) -> bytes:
        """Return what was held back."""
        return b"" if self._masker is None else self._tell(self._masker.finish())

    def _tell(self, data: bytes) -> bytes:
        if self._watchers and data:
            chunk = OutputChunk.model_construct(stream=self._stream, offset=self._offset, data=data)
            for token, progress in list(self._watchers.items()):
                try:
                    progress(chunk)
                except (
                    Exception
                ) as error:  # a watcher's failure must not touch the command; it is in the result
                    del self._watchers[token]
                    self._failures.append(
                        HookFailure(hook="progress", error=f"{type(error).__name__}: {error}")
                    )
        self._offset += len(data)
        return data
