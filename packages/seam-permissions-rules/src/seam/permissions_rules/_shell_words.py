"""From the parser's nodes to words: quotes and escapes resolved, expansions left unknown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from seam.permissions_rules._words import Word

WORD_TYPES = frozenset(
    {
        "word", "number", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation", "simple_expansion",
        "expansion", "command_substitution", "process_substitution", "arithmetic_expansion", "brace_expression",
        "extglob_pattern", "array", "regex", "test_operator", "special_variable_name", "variable_name",
    }
)  # fmt: skip
"""Nodes that stand for a word of a command."""

_EXPANDS = re.compile(r"[$`*?\[\]]|\{.*\}|^~|^=|[@+!]\(", re.DOTALL)
"""In unquoted text: what the shell expands, or another shell might (`=ls` of zsh)."""
_ANSI_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
}


def source_of(node: Node, whole: str) -> str:
    """The text of a node in the text that it comes from (which is parsed as ASCII, so that bytes are characters)."""
    return whole[node.start_byte : node.end_byte]


def word_of(node: Node, whole: str) -> Word:
    """The word of a node."""
    source = source_of(node, whole)
    text = ""
    unquoted = ""
    for piece, quoted in _pieces(node, whole):
        if piece is None:
            return Word(None, source)
        text += piece
        unquoted += "\0" if quoted else piece  # a quoted piece keeps its place
    if _EXPANDS.search(unquoted):
        return Word(None, source)
    return Word(text, source)


def _pieces(node: Node, whole: str) -> Iterator[tuple[str | None, bool]]:
    """Text and whether it was quoted; None where it is not known."""
    source = source_of(node, whole)
    match node.type:
        case "word" | "number" | "test_operator":
            yield from _unescaped(source)
        case "concatenation":
            yield from _joined(node, whole)
        case "raw_string":
            yield source[1:-1], True
        case "string":
            yield _double_quoted(node, source), True
        case "ansi_c_string":
            yield _ansi(source[2:-1]), True
        case _ if not node.is_named:
            yield source, False  # an operator among arguments: `test a == b`
        case _:
            yield None, False


def _joined(node: Node, whole: str) -> Iterator[tuple[str | None, bool]]:
    end = node.start_byte
    for child in node.children:
        if child.start_byte != end:
            yield None, False  # something between the pieces that the parser passed over
        end = child.end_byte
        yield from _pieces(child, whole)
    if end != node.end_byte:
        yield None, False


def _unescaped(source: str) -> Iterator[tuple[str | None, bool]]:
    if "'" in source or '"' in source:
        yield None, False  # a quote that the parser did not take for one
        return
    place = 0
    for escape in re.finditer(r"\\(.|\n|\Z)", source, re.DOTALL):
        yield source[place : escape.start()], False
        escaped = escape.group(1)
        yield ("" if escaped == "\n" else escaped), True  # backslash and newline: the line goes on
        place = escape.end()
    yield source[place:], False


def _double_quoted(node: Node, source: str) -> str | None:
    if any(child.type not in ("string_content", '"') for child in node.children):
        return None
    inner = source[1:-1]
    if re.search(r"(?<!\\)(?:\\\\)*[$`\"]", inner):
        return None
    return re.sub(r"\\([$`\"\\])|\\\n", lambda escape: escape.group(1) or "", inner)


def _ansi(inner: str) -> str | None:
    out = ""
    place = 0
    while place < len(inner):
        if inner[place] != "\\":
            out += inner[place]
            place += 1
            continue
        code = re.match(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))", inner[place:], re.DOTALL)
        if code is None:
            return None
        hexadecimal, octal, letter = code.groups()
        if letter is not None and letter not in _ANSI_ESCAPES:
            return None
        number = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else 0
        if letter is None and not 0 < number < 128:
            return None  # NUL ends the string in bash; bytes beyond ASCII depend on the locale
        out += _ANSI_ESCAPES[letter] if letter is not None else chr(number)
        place += code.end()
    return out
