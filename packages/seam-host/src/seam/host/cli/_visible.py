"""Text from elsewhere on a person's terminal: nothing in it may move the cursor, hide, or turn around what is read."""

from __future__ import annotations

import re
import unicodedata

_SEQUENCE = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    "|\x1b[\\]PX^_].*?(?:\x07|\x1b\\\\)"  # OSC, DCS, ...: titles, clipboard
    "|\x1b[ -/]*[0-~]",
    re.DOTALL,
)
_KEPT = "\n\t"


def visible(text: str) -> str:
    """For what a person decides about: every character that does not show is written out (`\\x1b`, `\\u202e`)."""
    return "".join(letter if _shows(letter) else _written(letter) for letter in text)


def printable(text: str) -> str:
    """For output: control sequences are dropped, and what is left of control characters."""
    return "".join(letter for letter in _SEQUENCE.sub("", text.replace("\r\n", "\n")) if _shows(letter))


def _shows(letter: str) -> bool:
    return letter in _KEPT or unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def _written(letter: str) -> str:
    number = ord(letter)
    return (
        f"\\x{number:02x}"
        if number < 0x100
        else f"\\u{number:04x}"
        if number < 0x10000
        else f"\\U{number:08x}"
    )
