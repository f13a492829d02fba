"""Words of a command, as far as they are known before it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """One word.

    Attributes:
        text: what the program will get, quotes and escapes resolved; None where only the run decides (an expansion, a
            glob). Such a word may become several, or none.
        source: as it is written.
    """

    text: str | None
    source: str


def literal(text: str) -> Word:
    """A word that means itself."""
    return Word(text, text)


def program_name(word: Word) -> str | None:
    """The name of the program that a first word calls, without its folder."""
    return None if word.text is None else word.text.rsplit("/", 1)[-1]


def shown(words: tuple[Word, ...]) -> str:
    """The command as it is written."""
    return " ".join(word.source for word in words)
