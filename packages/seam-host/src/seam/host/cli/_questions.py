"""A tool's questions to the person at the terminal."""

from __future__ import annotations

import json

from pydantic import JsonValue

from seam.host.cli._terminal import Terminal, TerminalClosed
from seam.host.cli._visible import visible
from seam.tools_def import Question, QuestionAnswer, QuestionPort


class TerminalQuestions(QuestionPort):
    """Asks for a text, a choice, or a JSON document."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    async def ask(self, question: Question) -> QuestionAnswer:
        """Ask until the answer fits; an empty line or the end of the input declines."""
        async with self._terminal.lock:
            self._terminal.say(f"\n{visible(question.text)}", "bold")
            for number, option in enumerate(question.options, start=1):
                self._terminal.say(f"  {number}  {visible(option)}")
            if question.details is not None:
                self._terminal.say(f"  as JSON that fits {visible(json.dumps(question.details))}", "dim")
            try:
                while True:
                    given = await self._terminal.read(self._prompt(question))
                    if not given:
                        return QuestionAnswer(answered=False)
                    try:
                        return QuestionAnswer(answered=True, value=_value(given, question))
                    except ValueError as error:
                        self._terminal.say(f"{error}", "yellow")
            except TerminalClosed:
                return QuestionAnswer(answered=False)

    @staticmethod
    def _prompt(question: Question) -> str:
        if question.options:
            return (
                "numbers, with spaces between (empty: no answer): "
                if question.multiple
                else "number (empty: no answer): "
            )
        return "answer (empty: none): "


def _value(given: str, question: Question) -> JsonValue:
    if question.details is not None:
        try:
            return json.loads(given)
        except ValueError as error:
            raise ValueError(f"that is not JSON: {error}") from None
    if not question.options:
        return given
    chosen = [_option(word, question.options) for word in given.replace(",", " ").split()]
    if question.multiple:
        return list[JsonValue](dict.fromkeys(chosen))
    if len(chosen) != 1:
        raise ValueError("choose one")
    return chosen[0]


def _option(word: str, options: tuple[str, ...]) -> str:
    if word.isdecimal() and 1 <= int(word) <= len(options):
        return options[int(word) - 1]
    if word in options:
        return word
    raise ValueError(f"{word!r} is none of 1 to {len(options)}")
