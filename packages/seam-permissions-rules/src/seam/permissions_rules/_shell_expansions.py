"""What runs while words are expanded, and expansions that can run code."""

from __future__ import annotations

import re

from tree_sitter import Node

from seam.permissions_rules._reading import Reading, Walk, check_gaps, unreadable
from seam.permissions_rules._shell_words import source_of

_PLAIN_EXPANSION = re.compile(r"\$\{#?[A-Za-z_0-9@*?$#-]+(?:(?::?[-+?]|%%?|##?|/|\^\^?|,,?).*)?\}", re.DOTALL)
_PLAIN_ARITHMETIC = re.compile(r"\$?[\s\d+*/%()<>=!&|^~?:,-]*")


def expansions(node: Node, reading: Reading, depth: int, walk: Walk) -> None:
    """The commands inside a word, as parts."""
    why = unreadable(node, depth)
    if why is not None:
        return reading.unknown(why, source_of(node))
    match node.type:
        case "command_substitution" | "process_substitution":
            check_gaps(node, reading)
            for child in node.children:
                walk(child, reading, depth + 1)
            return None
        case "arithmetic_expansion":
            return arithmetic(node, reading, depth, walk)
        case "expansion" if not _PLAIN_EXPANSION.fullmatch(source_of(node)):
            reading.unknown("this kind of expansion can run code", source_of(node))
        case "subscript":
            reading.unknown("an index is evaluated, which can run code", source_of(node))
        case _:
            pass
    for child in node.children:
        if child.is_named or child.is_error or child.is_missing:
            expansions(child, reading, depth + 1, walk)
    return None


def arithmetic(node: Node, reading: Reading, depth: int, walk: Walk) -> None:
    """`((...))` and `$((...))`: with anything but numbers it can run code, through the index of an array."""
    if not _PLAIN_ARITHMETIC.fullmatch(source_of(node)):
        reading.unknown("arithmetic with variables can run code", source_of(node))
        _substitutions(node, reading, depth, walk)


def _substitutions(node: Node, reading: Reading, depth: int, walk: Walk) -> None:
    why = unreadable(node, depth)
    if why is not None:
        reading.unknown(why, source_of(node))
    elif node.type == "command_substitution":
        expansions(node, reading, depth, walk)
    else:
        for child in node.children:
            _substitutions(child, reading, depth + 1, walk)
