"""What runs while words are expanded, and expansions that can run code."""

from __future__ import annotations

import re

from tree_sitter import Node

from seam.permissions_rules._reading import Reading, Walk, check_gaps, unreadable

_PLAIN_EXPANSION = re.compile(r"\$\{#?[A-Za-z_0-9@*?$#-]+(?:(?::?[-+?]|%%?|##?|/|\^\^?|,,?).*)?\}", re.DOTALL)
_PLAIN_ARITHMETIC = re.compile(r"\$?[\s\d+*/%()<>=!&|^~?:,-]*")

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_ENDS_A_WORD = re.compile(r"[\s;&|<>()]")
"""What no word holds without a quote; tree-sitter-bash 0.25 takes a newline before a backslash into a word."""


def expansions(node: Node, reading: Reading, depth: int, walk: Walk) -> None:
    """The commands inside a word, as parts."""
    why = unreadable(node, depth)
    if why is not None:
        return reading.unknown(why, reading.source(node))
    match node.type:
        case "command_substitution" | "process_substitution":
            check_gaps(node, reading)
            for child in node.children:
                walk(child, reading, depth + 1)
            return None
        case "arithmetic_expansion":
            return arithmetic(node, reading, depth, walk)
        case "word" | "number" | "test_operator" if _ENDS_A_WORD.search(
            _ESCAPED.sub("", reading.source(node))
        ):
            reading.unknown("the parser reads it in another way than the shell does", reading.source(node))
        case "expansion" if not _PLAIN_EXPANSION.fullmatch(reading.source(node)):
            reading.unknown("this kind of expansion can run code", reading.source(node))
        case "subscript":
            reading.unknown("an index is evaluated, which can run code", reading.source(node))
        case _:
            pass
    for child in node.children:
        if child.is_named or child.is_error or child.is_missing:
            expansions(child, reading, depth + 1, walk)
    return None


def arithmetic(node: Node, reading: Reading, depth: int, walk: Walk) -> None:
    """`((...))` and `$((...))`: with anything but numbers it can run code, through the index of an array."""
    if not _PLAIN_ARITHMETIC.fullmatch(reading.source(node)):
        reading.unknown("arithmetic with variables can run code", reading.source(node))
        _substitutions(node, reading, depth, walk)


def _substitutions(node: Node, reading: Reading, depth: int, walk: Walk) -> None:
    why = unreadable(node, depth)
    if why is not None:
        reading.unknown(why, reading.source(node))
    elif node.type == "command_substitution":
        expansions(node, reading, depth, walk)
    else:
        for child in node.children:
            _substitutions(child, reading, depth + 1, walk)
