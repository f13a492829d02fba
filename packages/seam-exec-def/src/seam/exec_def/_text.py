"""The text view of what a command wrote: decoded, without control sequences, one line where a line was rewritten.

Control sequences: ECMA-48 (5th edition), sections 5.4 and 5.6, in their 7-bit and 8-bit forms.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

# A string sequence (title, hyperlink, sixel) that nobody ended must not swallow what follows: only its introducer goes.
_SEQUENCE = re.compile(
    r"""
    (?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?                          # control sequence, complete or not
  | (?:\x1b\]|\x9d)(?:[^\x00-\x1f\x7f\x9c]*(?:\x07|\x1b\\|\x9c))?    # operating system command
  | (?:\x1b[PX^_]|[\x90\x98\x9e\x9f])(?:[^\x1b\x9c]{0,65536}(?:\x1b\\|\x9c))?    # device control, start of string, ...
  | \x1b[ -/]*[0-~]?                                           # any other escape sequence
  | [\x01-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f\x80-\x9f]         # single controls; not NUL, BS, TAB, LF, CR
    """,
    re.VERBOSE,
)
_OPEN = re.compile(
    r"""
    (?: (?:\x1b\[|\x9b)[0-?]*[ -/]*
      | (?:\x1b\]|\x9d)[^\x00-\x1f\x7f\x9c]*\x1b?
      | (?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]{0,65536}\x1b?
      | \x1b[ -/]*
    )\Z
    """,
    re.VERBOSE,
)
# the same on bytes that are read as Latin-1; an 8-bit form is two bytes in UTF-8
_SEQUENCE_IN_BYTES = re.compile(
    r"""
    (?:\x1b\[|\xc2\x9b)[0-?]*[ -/]*[@-~]?
  | (?:\x1b\]|\xc2\x9d)(?:[^\x00-\x1f\x7f]*?(?:\x07|\x1b\\|\xc2\x9c))?
  | (?:\x1b[PX^_]|\xc2[\x90\x98\x9e\x9f])(?:[^\x1b]{0,65536}?(?:\x1b\\|\xc2\x9c))?
  | \x1b[ -/]*[0-~]?
    """,
    re.VERBOSE,
)
_NOT_PLAIN = re.compile(rb"[^\t\n -~]")
_REPLACEMENT = "\ufffd"
_LOOK_BACK = 4096
"""Longest control sequence that is recognised across a cut or between two chunks, in characters."""


class PlainText(NamedTuple):
    """A text view and how many replacement characters in it stand for bytes that are not UTF-8."""

    text: str
    losses: int


def plain_text(data: bytes, *, before: bytes = b"", cut: bool = False) -> PlainText:
    """Return the text view of a piece of output.

    A carriage return begins its line anew, as a progress bar does; NUL is shown as its symbol (U+2400).

    Args:
        data: what a command wrote.
        before: bytes right before `data`, as many as are known (some hundred do). What began there, a character or a
            control sequence, is left out of the text.
        cut: the output goes on behind `data`; what is incomplete at the end is left out of the text.
    """
    if before:
        data = data[_begun_before(before, data) :]
    if _NOT_PLAIN.search(data) is None:
        return PlainText(data.decode("ascii"), 0)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoded = decoder.decode(data, final=not cut)
    losses = decoded.count(_REPLACEMENT) - data.count(_REPLACEMENT.encode())
    if cut:
        decoded = _OPEN.sub("", decoded)
    return PlainText(_collapse(_without_controls(decoded)), losses)


def _begun_before(before: bytes, data: bytes) -> int:
    """Return how many bytes at the beginning of `data` belong to a character or sequence that began in `before`."""
    count = 0
    for back in range(1, min(4, len(before) + 1)):
        if before[-back] & 0xC0 != 0x80:
            count = max(0, _length(before[-back]) - back)
            break
    while count and not all(byte & 0xC0 == 0x80 for byte in data[:count]):
        count -= 1
    joined = (before + data[: _LOOK_BACK + count]).decode("latin-1")
    position = len(before) + count
    for sequence in _SEQUENCE_IN_BYTES.finditer(joined):
        if sequence.start() >= position:
            break
        position = max(position, sequence.end())
    return position - len(before)


def _length(lead: int) -> int:
    # of the character that a byte begins (RFC 3629)
    if lead >= 0xF0:
        return 4
    if lead >= 0xE0:
        return 3
    return 2 if lead >= 0xC2 else 1


class LiveText:
    """The text of a stream as it comes in: decoded and without control sequences, carriage returns kept.

    For a person who watches. Nothing is cut inside a character or sequence, however the chunks fall.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, chunk: bytes) -> str:
        """Take the next bytes, return the text that is decided."""
        text = self._held + self._decoder.decode(chunk)
        opened = _OPEN.search(text, max(0, len(text) - _LOOK_BACK))
        self._held = opened.group() if opened else ""
        return _without_controls(text[: len(text) - len(self._held)])

    def finish(self) -> str:
        """Return what was held back."""
        text, self._held = self._held + self._decoder.decode(b"", final=True), ""
        return _without_controls(text)


def _without_controls(text: str) -> str:
    return _SEQUENCE.sub("", text).replace("\x00", "\u2400")


def _collapse(text: str) -> str:
    if "\r" not in text and "\b" not in text:
        return text
    return "\n".join(_last_writing(line) for line in text.split("\n"))


def _last_writing(line: str) -> str:
    line = line.rstrip("\r")
    line = line[line.rfind("\r") + 1 :]
    if "\b" not in line:
        return line
    shown: list[str] = []
    for character in line:
        if character != "\b":
            shown.append(character)
        elif shown:
            shown.pop()
    return "".join(shown)
