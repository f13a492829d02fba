"""Patterns over the words of one command."""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from seam.permissions_rules._words import Word, program_name

_GLOB = re.compile(r"[*?\[]")
_OPERATORS = re.compile(r"[;&|<>()`\n]|\$\(")


class Match(IntEnum):
    """Whether something matches; `MAYBE` where only the run decides, or where it comes near."""

    NO = 0
    MAYBE = 1
    YES = 2


@dataclass(frozen=True)
class CommandPattern:
    """The words of one command: `git status *`.

    A last `*` stands for any further words, also none; another `*` for one word; `*`, `?` and `[...]` inside a word for
    characters. Without a last `*` the command has exactly these words.
    """

    text: str
    words: tuple[str, ...]

    @staticmethod
    def parse(text: str) -> CommandPattern:
        """Read a pattern; quotes as in a shell.

        Raises:
            ValueError: it is empty, its quotes do not close, or it is more than one command.
        """
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise ValueError(f"{text!r} cannot be split into words: {error}") from error
        if not words:
            raise ValueError("a command pattern has at least one word; `*` means any command")
        unquoted = re.sub(r"'[^']*'|\"[^\"]*\"|\\.", "", text)
        if _OPERATORS.search(unquoted):
            raise ValueError(f"{text!r} is more than one command; a pattern is the words of one")
        return CommandPattern(text, words)

    def covers(self, words: Sequence[Word]) -> bool:
        """Whether it matches for sure. The program is compared as it is written: `git` is not `./git`."""
        return self._follow(0, words, 0, exact_program=True) is Match.YES

    def touches(self, words: Sequence[Word]) -> Match:
        """Whether it matches, or might: an unknown word, another spelling of options. The program's folder does not count."""
        found = self._follow(0, words, 0, exact_program=False)
        return found if found is not Match.NO else self._near(words)

    def starts_with(self, word: Word) -> bool:
        """Whether a word is its program."""
        return _fits(self.words[0], word, program=True)

    def spells(self, offset: int, program: str) -> bool:
        """Whether the word at an offset is this program, written out."""
        return offset < len(self.words) and self.words[offset] == program and not _GLOB.search(program)

    def _follow(self, token: int, words: Sequence[Word], place: int, *, exact_program: bool) -> Match:
        if token == len(self.words):
            rest = words[place:]
            if not rest:
                return Match.YES
            return Match.MAYBE if all(word.text is None for word in rest) else Match.NO
        pattern = self.words[token]
        if pattern == "*" and token == len(self.words) - 1:
            return Match.YES
        if place == len(words):
            return Match.NO
        word = words[place]
        if word.text is None:  # it may become any number of words
            further = (
                self._follow(after, words, place + 1, exact_program=exact_program)
                for after in range(token, len(self.words) + 1)
            )
            return Match.MAYBE if any(found is not Match.NO for found in further) else Match.NO
        if not _fits(pattern, word, program=place == 0 and not exact_program):
            return Match.NO
        return self._follow(token + 1, words, place + 1, exact_program=exact_program)

    def _near(self, words: Sequence[Word]) -> Match:
        """The same program and the same plain words in the same order, with other options between or for those named."""
        if not _fits(self.words[0], words[0], program=True):
            return Match.NO
        plain = [word for word in self.words[1:] if not word.startswith("-") and word != "*"]
        has_options = len(plain) < len([word for word in self.words[1:] if word != "*"])
        given = words[1:]
        if has_options and not any(word.text is None or word.text.startswith("-") for word in given):
            return Match.NO
        left = iter(given)
        for pattern in plain:
            if not any(word.text is None or fnmatch.fnmatchcase(word.text, pattern) for word in left):
                return Match.NO
        if not has_options and not plain:
            return Match.NO
        return Match.MAYBE


def _fits(pattern: str, word: Word, *, program: bool) -> bool:
    text = program_name(word) if program and "/" not in pattern else word.text
    if text is None:
        return False
    return fnmatch.fnmatchcase(text, pattern) if _GLOB.search(pattern) else text == pattern
