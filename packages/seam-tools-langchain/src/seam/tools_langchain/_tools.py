"""A turn as LangChain tools."""

from __future__ import annotations

import json
from typing import cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import JsonValue, PrivateAttr

from seam.tools_def import Completed, Descriptor, Outcome, Turn, outcome_text


class SeamTool(BaseTool):
    """One tool in view of a turn; good for as long as the turn is. Async only."""

    response_format: str = "content_and_artifact"  # pyright: ignore[reportIncompatibleVariableOverride] - one of its words
    _turn: Turn = PrivateAttr()

    def __init__(self, turn: Turn, descriptor: Descriptor) -> None:
        super().__init__(
            name=descriptor.name,
            description=descriptor.description,
            args_schema=cast("dict[str, JsonValue]", descriptor.parameters),
        )
        self._turn = turn

    def _run(self, **arguments: JsonValue) -> tuple[str, Outcome]:
        raise NotImplementedError(f"{self.name} is async; use ainvoke: a turn lives in an event loop")

    async def _arun(self, **arguments: JsonValue) -> tuple[str, Outcome]:
        outcome = await self._turn.call(self.name, arguments)
        return content(outcome), outcome

    async def ainvoke(
        self,
        input: str | dict[str, object] | ToolCall,  # noqa: A002 - the framework's word
        config: RunnableConfig | None = None,
        **kwargs: object,
    ) -> object:
        """As `BaseTool.ainvoke`; a message for what is not a success says so in its status."""
        answer = await super().ainvoke(input, config, **kwargs)
        if isinstance(answer, ToolMessage) and not succeeded(cast(Outcome, answer.artifact)):
            return answer.model_copy(update={"status": "error"})
        return answer


def seam_tools(turn: Turn) -> list[BaseTool]:
    """The tools in view of a turn."""
    return [SeamTool(turn, descriptor) for descriptor in turn.tools]


def succeeded(outcome: Outcome) -> bool:
    """Whether the call did what it was for."""
    return isinstance(outcome, Completed) and outcome.success


def content(outcome: Outcome) -> str:
    """What a model reads: the text that was made for models, else the value as JSON."""
    text = outcome_text(outcome)
    return text or json.dumps(outcome.value, ensure_ascii=False)
