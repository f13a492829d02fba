"""The head and the tail of a stream in bounded memory."""

from __future__ import annotations


class Windows:
    """Keeps the first `head_bytes` and the last `tail_bytes` of a stream; offsets are absolute.

    The tail is a ring of fixed capacity: memory never exceeds the two windows, however large the stream."""

    __slots__ = ("_at", "_capacity", "_head", "_head_bytes", "_ring", "total")

    def __init__(self, head_bytes: int, tail_bytes: int) -> None:
        self.total = 0
        self._head = bytearray()
        self._head_bytes = head_bytes
        self._ring = bytearray()
        self._capacity = tail_bytes
        self._at = 0  # where the oldest byte of a full ring is

    def add(self, data: memoryview) -> None:
        """Take the next bytes of the stream."""
        self.total += len(data)
        room = self._head_bytes - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        capacity = self._capacity
        if not data or not capacity:
            return
        if len(data) >= capacity:
            self._ring[:] = data[len(data) - capacity :]
            self._at = 0
            return
        growing = min(capacity - len(self._ring), len(data))
        self._ring += data[:growing]
        data = data[growing:]
        first = min(capacity - self._at, len(data))
        self._ring[self._at : self._at + first] = data[:first]
        self._ring[: len(data) - first] = data[first:]
        self._at = (self._at + len(data)) % capacity

    @property
    def whole(self) -> bool:
        """Everything that came is still here."""
        return self.total == len(self._head) + len(self._ring)

    @property
    def head_end(self) -> int:
        """The offset after the head window."""
        return len(self._head)

    @property
    def tail_start(self) -> int:
        """The offset where the tail window starts."""
        return self.total - len(self._ring)

    def head(self) -> bytes:
        """The head window; everything while the stream is whole."""
        return bytes(self._head) + self._tail() if self.whole else bytes(self._head)

    def tail(self) -> bytes:
        """The tail window; empty while the stream is whole."""
        return b"" if self.whole else self._tail()

    def _tail(self) -> bytes:
        return bytes(self._ring[self._at :] + self._ring[: self._at]) if self._at else bytes(self._ring)

    def read(self, offset: int, max_bytes: int) -> bytes | None:
        """Bytes at `offset` that are in one window; None when that offset is between the windows."""
        if offset < len(self._head):
            return bytes(self._head[offset : offset + max_bytes])
        start = offset - self.tail_start
        if start < 0:
            return None
        size = min(max_bytes, len(self._ring) - start)
        at = self._at + start
        piece = self._ring[at : at + size]
        wrapped = at + size - len(self._ring)
        if wrapped > 0:
            piece += self._ring[max(0, at - len(self._ring)) : wrapped]
        return bytes(piece)
