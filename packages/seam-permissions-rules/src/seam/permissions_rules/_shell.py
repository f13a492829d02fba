"""Reading shell text with the grammar of bash (tree-sitter-bash). What is not on a list of known forms is an unknown part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from seam.permissions_rules._parts import CommandPart, Part, UnknownPart
from seam.permissions_rules._reading import (
    BLANK,
    MOST_TEXTS,
    MOST_WORDS,
    TEXTS_DEEPEST,
    Reading,
    check_gaps,
    settled,
    unreadable,
)
from seam.permissions_rules._shell_expansions import arithmetic, expansions
from seam.permissions_rules._shell_redirects import REDIRECTS, redirect
from seam.permissions_rules._shell_words import WORD_TYPES, word_of
from seam.permissions_rules._words import Word, program_name
from seam.permissions_rules._wrappers import SILENT, Inner, InnerText, Opaque, unwrap

_ODD = re.compile(r"[^\S \t\n]|[\x00-\x08\x0b-\x1f\x7f]")
"""White space and control characters that the parser may take for something else than the shell does."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_JOINED_LINES = re.compile(r"[^ \t\n]\\\n[^ \t\n]")
"""A line that goes on inside a word: the shell joins it, the parser parts it."""
_WITH_OWN_WORDS = frozenset({"case_statement", "case_item", "function_definition", "for_statement"})
"""Statements that hold words of their own beside statements."""
_HOLDS_STATEMENTS = _WITH_OWN_WORDS | frozenset(
    {
        "program", "list", "pipeline", "subshell", "if_statement", "elif_clause", "else_clause", "while_statement", "do_group",
        "negated_command", "redirected_statement", "compound_statement",
    }
)  # fmt: skip
_ASSIGNMENTS = ("variable_assignment", "variable_assignments", "declaration_command", "unset_command")
SETS = "it sets a variable, which can change what programs do"


class ShellReader:
    """Parses shell text.

    Args:
        longest: characters of a text that is read; a longer one is not understood.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._parser = Parser(Language(tree_sitter_bash.language()))

    def read(self, text: str, workdir: str) -> Sequence[Part]:
        """The parts of a text."""
        reading = Reading(workdir)
        self._read(text, reading)
        return settled(reading)

    def words(self, words: tuple[Word, ...], workdir: str) -> Sequence[Part]:
        """The parts of one command that no shell will read."""
        reading = Reading(workdir)
        if words:
            self._command(words, reading, None, None)
        return settled(reading)

    def _read(self, text: str, reading: Reading) -> None:
        odd = _ODD.search(text)
        if odd is not None:
            return reading.unknown(
                f"it holds the character {odd.group()!r}, which shells read in different ways", text
            )
        if reading.depth:
            reading.allowance.texts -= 1
            if reading.allowance.texts < 0:
                return reading.unknown(f"it holds more than {MOST_TEXTS} texts that may be commands", text)
        if _JOINED_LINES.search(text):
            reading.unknown("a line goes on inside a word", text)
        if len(text) > self._longest:
            return reading.unknown(f"it is longer than {self._longest} characters", text)
        if reading.depth > TEXTS_DEEPEST:
            return reading.unknown(f"texts are nested deeper than {TEXTS_DEEPEST} levels", text)
        reading.text = text
        # The parser's C code looks beyond its tables at characters beyond ASCII, and can crash. They mean nothing to a shell, so
        # it gets a letter for each; words are cut out of the text itself, at the same places.
        content = _BEYOND_ASCII.sub("z", text).encode("ascii")
        root = self._parser.parse(content).root_node
        if not BLANK.match(content[: root.start_byte]) or not BLANK.match(content[root.end_byte :]):
            reading.unknown("a part of it is no shell command", text)
        if root.has_error:
            reading.unknown("it is not valid shell", text)
        return self._node(root, reading, 0)

    # -- statements

    def _node(self, node: Node, reading: Reading, depth: int) -> None:
        why = unreadable(node, depth)
        if why is not None:
            return reading.unknown(why, reading.source(node))
        if not node.is_named or node.type == "comment":
            return None
        if node.type == "command":
            return self._simple_command(node, reading, depth)
        if node.type in _HOLDS_STATEMENTS:
            return self._statements(node, reading, depth)
        if node.type in REDIRECTS:
            return redirect(node, reading, depth, self._node, self._fed)
        if node.type not in WORD_TYPES:
            _tell_what_is_special(node, reading)
        return expansions(node, reading, depth, self._node)

    def _statements(self, node: Node, reading: Reading, depth: int) -> None:
        if node.type not in _WITH_OWN_WORDS:
            check_gaps(node, reading)
        if node.type == "compound_statement" and node.children and node.children[0].type == "((":
            return arithmetic(node, reading, depth, self._node)
        if node.type == "for_statement":
            reading.unknown(SETS, reading.source(node))
        for child in node.children:
            if node.type != "function_definition" or child != node.child_by_field_name("name"):
                self._node(child, reading, depth + 1)
        return None

    # -- one command

    def _simple_command(self, node: Node, reading: Reading, depth: int) -> None:
        check_gaps(node, reading)
        words: list[Word] = []
        for child in node.children:
            if child.is_error or child.is_missing:
                reading.unknown("it is not valid shell", reading.source(node))
            elif child.type == "variable_assignment":
                self._node(child, reading, depth + 1)
            elif child.type in REDIRECTS:
                redirect(child, reading, depth, self._node, self._fed)
            elif child.type == "command_name":
                words += [word_of(inner, reading.text) for inner in child.children]
                expansions(child, reading, depth, self._node)
            elif child.type in WORD_TYPES or not child.is_named:
                words.append(word_of(child, reading.text))
                expansions(child, reading, depth, self._node)
            else:
                reading.unknown(f"it has a form that is not known here ({child.type})", reading.source(node))
                self._node(child, reading, depth + 1)
        if words:
            self._command(tuple(words), reading, None, None)

    def _command(
        self, words: tuple[Word, ...], reading: Reading, outer: CommandPart | None, offset: int | None
    ) -> None:
        name = program_name(words[0])
        if len(words) > MOST_WORDS:
            reading.unknown(f"it is a command of more than {MOST_WORDS} words", words[0].source)
            words = words[:MOST_WORDS]
        if name in ("cd", "pushd", "popd"):
            reading.moves = True
        found = unwrap(words)
        runs = [each for each in found if not isinstance(each, Opaque)]
        hidden = bool(runs) and not any(each.adds for each in runs)
        part = CommandPart(words, needed=not hidden, outer=outer, offset=offset)
        reading.parts.append(part)
        if name is None:
            reading.unknown("which program it runs is only known when it runs", part.text)
        for each in found:
            match each:
                case Opaque(why, spellable):
                    reading.parts.append(UnknownPart(why, part.text, command=part if spellable else None))
                case Inner(first, end, _, sets, more):
                    for setting in sets:
                        reading.unknown(SETS, setting)
                    added = (Word(None, "..."),) if more else ()
                    self._command((*words[first:end], *added), reading, part, first)
                case InnerText(text):
                    self._text(text, reading, part)
        self._possible(words, reading)

    def _text(self, text: str, reading: Reading, outer: CommandPart) -> None:
        inner = reading.nested()
        self._read(text, inner)
        for part in settled(inner):
            if isinstance(part, CommandPart) and part.outer is None:
                part = replace(part, outer=outer)  # noqa: PLW2901
            reading.parts.append(part)
        reading.moves = reading.moves or inner.moves  # eval changes this shell's

    def _possible(self, words: tuple[Word, ...], reading: Reading) -> None:
        """What one of the words might turn out to be, in a program that runs its arguments in a way unknown here."""
        if program_name(words[0]) in SILENT:
            return
        if len(words) > 1:
            reading.parts.append(CommandPart(words[1:], needed=False, possible=True, tail=True))
        for word in words[1:]:
            if word.text is not None and re.search(r"[\s;&|]", word.text):
                self._fed(word.text, reading)

    def _fed(self, text: str, reading: Reading) -> None:
        # a shell may be reading it: what it would run is possible
        if reading.depth < TEXTS_DEEPEST and reading.allowance.texts > 0:
            inner = reading.nested()
            self._read(text, inner)
            reading.parts += [
                replace(part, needed=False, possible=True, loose=True)
                for part in inner.parts
                if isinstance(part, CommandPart)
            ]
        else:
            reading.unknown("it holds more texts that may be commands than are read", text)


def _tell_what_is_special(node: Node, reading: Reading) -> None:
    source = reading.source(node)
    if node.type in _ASSIGNMENTS:
        reading.unknown(SETS, source)
    elif node.type != "test_command":
        reading.unknown(f"it has a form that is not known here ({node.type})", source)
    elif re.search(r"[$`<>(]", source.replace("[[", "").replace("((", "")):
        reading.unknown("a test with expansions can run code", source)
