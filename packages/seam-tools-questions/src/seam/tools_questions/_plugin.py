"""The tool, and the plugin that offers it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from seam.kernel import Context, Seconds, plugin
from seam.tools_def import (
    CallContext,
    CapabilityUnavailable,
    Completed,
    Failed,
    Question,
    QuestionAnswer,
    ResolvedCall,
    Text,
    Tool,
    ToolResult,
    effects,
)

DESCRIPTION = (
    "Ask the person you work for a question and wait for the answer. Use it when the task cannot be done well without "
    "knowing what only the person knows or decides; do not ask what you can find out. Give options when the answer is a choice."
)

DECLINED = "The person did not answer. Go on without the answer, or say what you would need to know."


class QuestionsConfig(BaseModel):
    """Configuration of the question tool."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    timeout: Annotated[Seconds, Field(gt=0, allow_inf_nan=False)] = 600.0
    """How long the person may take, in seconds (configuration also takes "10m")."""


class Parameters(BaseModel):
    """What a model may ask."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(
        min_length=1, max_length=4000, description="The question, as the person shall read it."
    )
    options: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        default_factory=list[str],
        max_length=20,
        description="Answers to choose from. Leave it out for an answer in the person's own words.",
    )
    multiple: bool = Field(default=False, description="Whether several options may be chosen.")


class Reply(BaseModel):
    """The structured result; `answer` is the text, the option, or the list of options."""

    answered: bool
    answer: str | list[str] | None = None


def question_tool(config: QuestionsConfig) -> Tool:
    """The tool `ask_person`; it asks through the port of the turn that calls it."""

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        port = context.questions
        if port is None:
            raise CapabilityUnavailable(
                "nobody is at the door of this turn who could be asked; decide without the answer",
                reason="questions",
            )
        given = cast(Parameters, resolved.plan)
        options = tuple(given.options)
        answer = await port.ask(Question(text=given.question, options=options, multiple=given.multiple))
        return _result(given, answer)

    return Tool(
        name="ask_person",
        description=DESCRIPTION,
        parameters=Parameters,
        output=Reply,
        effects=effects(),
        deadline=config.timeout,
        run=run,
    )


def _result(given: Parameters, answer: QuestionAnswer) -> ToolResult:
    if not answer.answered:
        return Completed(
            value={"answered": False, "answer": None}, content=(Text(text=DECLINED),), success=False
        )
    problem = _misfit(given, answer.value)
    if problem is not None:
        return Failed(
            code="ANSWER_INVALID", message=f"the door's answer does not fit the question: {problem}"
        )
    text = ", ".join(map(str, answer.value)) if isinstance(answer.value, list) else str(answer.value)
    return Completed(value={"answered": True, "answer": answer.value}, content=(Text(text=text),))


def _misfit(given: Parameters, value: JsonValue) -> str | None:
    """Why an answer is none of those that were offered, or None."""
    if given.options and given.multiple:
        if not isinstance(value, list):
            return "several options may be chosen, and it is no list"
        other = [item for item in value if item not in given.options]
        return f"{len(other)} of what was chosen was not offered" if other else None
    if not isinstance(value, str):
        return "it is no text"
    return "what was chosen was not offered" if given.options and value not in given.options else None


@plugin(config=QuestionsConfig)
async def questions(ctx: Context, config: QuestionsConfig) -> AsyncIterator[None]:
    """Offers `ask_person`."""
    ctx.contribute(question_tool(config))
    yield
