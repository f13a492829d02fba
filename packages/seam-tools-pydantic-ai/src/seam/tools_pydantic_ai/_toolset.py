"""A turn as a toolset."""

from __future__ import annotations

from typing import Generic, cast

from pydantic import JsonValue
from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.tools import AgentDepsT, ToolDefinition
from pydantic_ai.toolsets.abstract import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from seam.tools_def import Completed, Descriptor, Outcome, Refused, Text, Turn, outcome_text


class SeamToolset(AbstractToolset[AgentDepsT], Generic[AgentDepsT]):
    """The tools in view of a turn.

    Args:
        turn: an open turn; the toolset is good for as long as it is.
        id: for durable execution, and to tell two toolsets apart.
        max_retries: how often the model may correct arguments that Seam refused.
    """

    def __init__(self, turn: Turn, *, id: str | None = None, max_retries: int = 2) -> None:  # noqa: A002 - the framework's word
        self._turn = turn
        self._id = id
        self._max_retries = max_retries
        # arguments are validated by the turn, once, for every caller; here any object will do
        self._validator = SchemaValidator(
            core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
        )

    @property
    def id(self) -> str | None:
        """As given."""
        return self._id

    async def get_instructions(self, ctx: RunContext[AgentDepsT]) -> str | None:
        """Notes of plugins, and the skills in view."""
        return self._turn.instructions() or None

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """The tools in view, with their schemas as every model sees them."""
        return {descriptor.name: self._tool(descriptor) for descriptor in self._turn.tools}

    def _tool(self, descriptor: Descriptor) -> ToolsetTool[AgentDepsT]:
        return ToolsetTool(
            toolset=self,
            tool_def=ToolDefinition(
                name=descriptor.name,
                description=descriptor.description,
                parameters_json_schema=cast("dict[str, JsonValue]", descriptor.parameters),
                sequential=descriptor.concurrency == "exclusive",
            ),
            max_retries=self._max_retries,
            args_validator=self._validator,
        )

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, JsonValue],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
    ) -> JsonValue:
        """Call through the turn.

        Raises:
            ModelRetry: the arguments do not fit.
            ToolFailed: refused, failed, cancelled or unavailable; the text says which and why.
            TurnEnded, TurnFailed: not the model's business; they end the run.
        """
        return answer(await self._turn.call(name, tool_args))


def answer(outcome: Outcome) -> JsonValue:
    """What the model gets: the text that was made for models, else the value."""
    if isinstance(outcome, Completed):
        has_text = any(isinstance(item, Text) for item in outcome.content)
        return outcome_text(outcome) if has_text else outcome.value
    if isinstance(outcome, Refused) and outcome.policy == "validation":
        raise ModelRetry(outcome.reason)
    raise ToolFailed(outcome_text(outcome))
