"""Redirects: what is written and read, and words that the grammar takes for something else."""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node

from seam.permissions_rules._parts import ConnectPart, PathPart
from seam.permissions_rules._reading import Reading, Walk
from seam.permissions_rules._shell_expansions import expansions
from seam.permissions_rules._shell_words import WORD_TYPES, word_of
from seam.permissions_rules._targets import absolute

REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_NETWORK = re.compile(r"/dev/(?:tcp|udp)/([^/]*)/([^/]*)\Z")
_RUNS_IN_TEXT = re.compile(r"`|\$[({\[]")
NOWHERE = ("/dev/null", "/dev/stdout", "/dev/stderr")
"""Targets of a redirect that change nothing."""

Fed = Callable[[str, Reading], None]
"""Told the text of a here-document: a shell may be reading it."""


def redirect(node: Node, reading: Reading, depth: int, walk: Walk, fed: Fed) -> None:
    """The parts of one redirect."""
    match node.type:
        case "file_redirect":
            _file(node, reading, depth, walk)
        case "herestring_redirect":
            expansions(node, reading, depth, walk)
        case _:
            _heredoc(node, reading, depth, walk, fed)


def _heredoc(node: Node, reading: Reading, depth: int, walk: Walk, fed: Fed) -> None:
    kinds = {child.type: reading.source(child) for child in node.children}
    if "heredoc_end" not in kinds:
        reading.unknown("a here-document does not end", reading.source(node))
    quoted = re.search(r"[\\'\"]", kinds.get("heredoc_start", "")) is not None
    for child in node.children:
        match child.type:
            case "heredoc_start" | "heredoc_end":
                pass
            case "heredoc_body":
                if not quoted and _RUNS_IN_TEXT.search(reading.source(child)):
                    # what the grammar finds there is read below; whether it is all is not sure
                    reading.unknown(
                        "a here-document holds an expansion that can run code", reading.source(child)
                    )
                expansions(child, reading, depth, walk)
                fed(reading.source(child), reading)
            case _ if child.type in WORD_TYPES:
                # words behind the delimiter are arguments of the command, which the grammar does not give to it
                reading.unknown("it has words behind a here-document", reading.source(node))
                expansions(child, reading, depth, walk)
            case _:
                walk(child, reading, depth + 1)


def _file(node: Node, reading: Reading, depth: int, walk: Walk) -> None:
    source = reading.source(node)
    destinations = [child for child in node.children if child.type in WORD_TYPES]
    operator = next((child.type for child in node.children if not child.is_named), "")
    if node.has_error or len(destinations) > 1:
        # words behind a redirect are arguments of the command, which the grammar does not give to it
        reading.unknown("it has words behind a redirect", source)
    for each in destinations:
        expansions(each, reading, depth, walk)
    if not destinations:
        if operator not in (">&-", "<&-"):
            reading.unknown("where it redirects to is not known", source)
        return
    if destinations[0].type == "process_substitution":
        return
    word = word_of(destinations[0], reading.text)
    if operator in (">&", "<&") and word.text is not None and re.fullmatch(r"\d+-?|-", word.text):
        return
    if operator not in ("<", "<&", ">", ">>", ">|", "&>", "&>>", ">&", "<>"):
        reading.unknown("a redirect of a kind that is not known here", source)
        return
    writes = operator not in ("<", "<&")
    if word.text is not None and (target := _NETWORK.match(word.text)):
        host, port = target.groups()
        reading.parts.append(ConnectPart(host, int(port) if port.isdigit() else None))
        return
    if writes and word.text in NOWHERE:
        return
    path = None if word.text is None else absolute(word.text, reading.workdir)
    relative = word.text is not None and not word.text.startswith("/")
    kind = "write" if writes else "read"
    reading.parts.append(PathPart(kind, path, word.source, needed=writes, relative=relative))
