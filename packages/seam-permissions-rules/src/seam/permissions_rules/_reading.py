"""What is found while a shell text is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from seam.permissions_rules._parts import Part, PathPart, UnknownPart
from seam.permissions_rules._shell_words import source_of

DEEPEST = 40
"""Nesting of nodes that is followed; deeper is not understood."""
TEXTS_DEEPEST = 5
"""Nesting of texts in texts (`bash -c 'bash -c ...'`) that is followed."""
MOST_WORDS = 2000
"""Words of one command that are looked at; one with more is not understood."""
MOST_TEXTS = 200
"""Texts inside of words that are read for one call; with more it is not understood."""
BLANK = re.compile(rb"(?:[ \t\n]|\\\n)*\Z")


@dataclass
class Allowance:
    """What the reading of one call may still cost."""

    texts: int = MOST_TEXTS


@dataclass
class Reading:
    """Everything that a text would do, as far as it can be read."""

    workdir: str
    depth: int = 0
    text: str = ""
    allowance: Allowance = field(default_factory=Allowance)
    parts: list[Part] = field(default_factory=list[Part])
    moves: bool = False
    """Whether it changes the working directory: relative paths are not known then."""

    def unknown(self, why: str, source: str) -> None:
        """Add an unknown part."""
        self.parts.append(UnknownPart(why, source))

    def source(self, node: Node) -> str:
        """The text of a node."""
        return source_of(node, self.text)

    def nested(self) -> Reading:
        """For a text inside this one."""
        return Reading(self.workdir, self.depth + 1, allowance=self.allowance, moves=self.moves)


Walk = Callable[[Node, Reading, int], None]
"""Reads one statement: node, what is found, depth."""


def unreadable(node: Node, depth: int) -> str | None:
    """Why a node cannot be understood whatever it holds, or None."""
    if depth > DEEPEST:
        return f"it is nested deeper than {DEEPEST} levels"
    if node.is_error or node.is_missing:
        return "it is not valid shell"
    return None


def check_gaps(node: Node, reading: Reading) -> None:
    """Between the parser's pieces there is white space only, so that nothing was passed over."""
    content = node.text or b""
    end = node.start_byte
    for child in node.children:
        gap = content[end - node.start_byte : child.start_byte - node.start_byte]
        if not BLANK.match(gap):
            reading.unknown("the parser passed over a part of it", reading.source(node))
        end = max(end, child.end_byte)


def settled(reading: Reading) -> Sequence[Part]:
    """Where the working directory changes, relative paths are not known: a loop may come back behind the change."""
    if not reading.moves:
        return reading.parts
    return [
        replace(part, path=None) if isinstance(part, PathPart) and part.relative else part
        for part in reading.parts
    ]
