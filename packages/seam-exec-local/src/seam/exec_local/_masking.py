"""Masking the values of secrets in a stream of bytes, however the chunks fall."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import SecretStr

from seam.exec_def import SecretRef

_SHORTEST_LINE = 8
"""Bytes from which on a line of a secret with several lines (a private key) is masked by itself."""


class Masks:
    """The values to be masked, one of them not empty, and what stands for each. It never shows a value."""

    __slots__ = ("pattern", "replacements", "values")

    def __init__(self, values: Mapping[SecretRef, SecretStr]) -> None:
        self.replacements: dict[bytes, bytes] = {}
        for reference, value in values.items():
            shown = f"[secret {reference.secret}]".encode("utf-8", "surrogateescape")
            for part in _parts(value.get_secret_value()):
                self.replacements.setdefault(part, shown)
        # the longest first: of two values that begin alike, the whole of the longer one is masked
        ordered = sorted(self.replacements, key=len, reverse=True)
        self.pattern = re.compile(b"|".join(map(re.escape, ordered)))
        self.values = ordered

    def begun(self, data: bytes, position: int) -> bytes | None:
        """Return the longest value of which `data` from `position` to its end is the beginning, and not the whole."""
        length = len(data) - position
        first = data[position : position + 4]
        for value in self.values:
            if length < len(value) and value.startswith(first) and data.endswith(value[:length]):
                return value
        return None

    def open_end(self, data: bytes, start: int) -> int:
        """Return where in `data`, at or after `start`, something begins that may become a value with what follows."""
        for position in range(max(start, len(data) - len(self.values[0]) + 1), len(data)):
            if self.begun(data, position) is not None:
                return position
        return len(data)


class Masker:
    """Masks one stream; a `ByteFilter` of seam-subprocess-def."""

    def __init__(self, masks: Masks) -> None:
        self._masks = masks
        self._held = b""
        self.masked = 0
        """How many values were replaced so far."""

    def feed(self, chunk: bytes) -> bytes:
        """Take the next bytes, return what is decided."""
        data = self._held + chunk
        out: list[bytes] = []
        done = 0
        open_end = self._masks.open_end(data, 0)
        for match in self._masks.pattern.finditer(data):
            if match.start() >= open_end:
                break
            out += (data[done : match.start()], self._masks.replacements[match.group()])
            self.masked += 1
            done = match.end()
            if done > open_end:
                open_end = self._masks.open_end(data, done)
        out.append(data[done:open_end])
        self._held = data[open_end:]
        return b"".join(out)

    def finish(self) -> bytes:
        """Return what was held back. More than half of a value is masked as if it were whole: the rest was cut off."""
        held, self._held = self._held, b""
        out: list[bytes] = []
        position = 0
        while position < len(held):
            begun = self._masks.begun(held, position)
            whole = self._masks.pattern.match(held, position)
            if begun is not None and 2 * (len(held) - position) > len(begun):
                out.append(self._masks.replacements[begun])
                self.masked += 1
                break
            if whole is not None:
                out.append(self._masks.replacements[whole.group()])
                self.masked += 1
                position = whole.end()
            else:
                out.append(held[position : position + 1])
                position += 1
        return b"".join(out)


def _parts(value: str) -> list[bytes]:
    whole = value.encode("utf-8", "surrogateescape")
    lines = [line.strip() for line in whole.splitlines()] if b"\n" in whole else []
    return [part for part in (whole, *lines) if part and (part is whole or len(part) >= _SHORTEST_LINE)]
