"""The model asks, the person answers, declines, or is not there."""

from __future__ import annotations

import pytest
from pydantic import JsonValue, ValidationError

from seam.kernel import Kernel
from seam.tools_def import (
    CapabilityUnavailable,
    Completed,
    Failed,
    Question,
    QuestionAnswer,
    QuestionPort,
    Text,
    Tool,
    ToolResult,
)
from seam.tools_def.testing import RecordingContext, run_tool
from seam.tools_questions import QuestionsConfig, question_tool, questions

pytestmark = pytest.mark.anyio


class Person(QuestionPort):
    """Gives one answer."""

    def __init__(self, answer: QuestionAnswer) -> None:
        self.answer = answer
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> QuestionAnswer:
        self.asked.append(question)
        return self.answer


async def ask(arguments: dict[str, JsonValue], person: QuestionPort | None) -> ToolResult:
    return await run_tool(question_tool(QuestionsConfig()), arguments, RecordingContext(questions=person))


async def test_a_free_answer_comes_back_as_text_and_value() -> None:
    person = Person(QuestionAnswer(answered=True, value="blue"))
    result = await ask({"question": "Which colour?"}, person)
    assert result == Completed(value={"answered": True, "answer": "blue"}, content=(Text(text="blue"),))
    assert person.asked == [Question(text="Which colour?")]


async def test_a_choice_of_several_options() -> None:
    person = Person(QuestionAnswer(answered=True, value=["red", "blue"]))
    result = await ask({"question": "Which?", "options": ["red", "blue", "green"], "multiple": True}, person)
    assert isinstance(result, Completed)
    assert result.content == (Text(text="red, blue"),)
    assert person.asked == [Question(text="Which?", options=("red", "blue", "green"), multiple=True)]


async def test_a_person_who_declines_is_no_failure_and_no_success() -> None:
    result = await ask({"question": "Which?"}, Person(QuestionAnswer(answered=False)))
    assert isinstance(result, Completed)
    assert not result.success
    assert result.value == {"answered": False, "answer": None}


async def test_with_nobody_at_the_door_it_is_unavailable() -> None:
    with pytest.raises(CapabilityUnavailable, match="nobody is at the door"):
        await ask({"question": "Which?"}, None)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"question": "?", "options": ["a"]}, "b"),
        ({"question": "?", "options": ["a"]}, ["a"]),
        ({"question": "?", "options": ["a"], "multiple": True}, "a"),
        ({"question": "?", "options": ["a"], "multiple": True}, ["a", "b"]),
        ({"question": "?"}, 5),
        ({"question": "?"}, None),
    ],
)
async def test_an_answer_that_was_not_offered_is_a_failure(
    arguments: dict[str, JsonValue], value: JsonValue
) -> None:
    result = await ask(arguments, Person(QuestionAnswer(answered=True, value=value)))
    assert isinstance(result, Failed)
    assert result.code == "ANSWER_INVALID"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"question": ""},
        {"question": "x" * 4001},
        {"question": "?", "options": [""]},
        {"question": "?", "more": 1},
    ],
)
def test_questions_are_bounded(arguments: dict[str, JsonValue]) -> None:
    with pytest.raises(ValidationError):
        question_tool(QuestionsConfig()).parameters.model_validate(arguments)


async def test_the_plugin_offers_the_tool_with_the_configured_patience() -> None:
    async with Kernel() as kernel:
        kernel.root.load(questions, {"timeout": "2m"})
        await kernel.root.settle()
        ((_, made),) = kernel.root.contributions(Tool)
        descriptor = made.describe("plugin:questions")
        assert (descriptor.name, descriptor.deadline, descriptor.effects.risky) == ("ask_person", 120, False)
