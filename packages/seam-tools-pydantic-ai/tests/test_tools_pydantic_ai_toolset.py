"""A real Pydantic AI agent with an offline model over a scripted turn."""

from __future__ import annotations

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_fakes import PARAMETERS, turn_with

from seam.tools_def import Completed, Failed, Outcome, Refused, Text
from seam.tools_def.testing import ScriptedTurn
from seam.tools_pydantic_ai import SeamToolset


@pytest.fixture
def anyio_backend() -> str:
    """Pydantic AI runs on asyncio only."""
    return "asyncio"


class Script:
    """A model that calls `echo` once for each outcome of the turn, and then repeats what it was told."""

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.told: list[str] = []
        self.info: AgentInfo | None = None

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.info = info
        for part in messages[-1].parts:
            if isinstance(part, ToolReturnPart):
                self.told.append(part.model_response_str())
        if len(self.told) < self.calls:
            return ModelResponse(parts=[ToolCallPart("echo", {"text": "hello"})])
        return ModelResponse(parts=[TextPart(self.told[-1])])


async def run(*outcomes: Outcome) -> tuple[ScriptedTurn, Script, str]:
    turn, script = turn_with(*outcomes), Script(len(outcomes))
    agent = Agent(FunctionModel(script), toolsets=[SeamToolset(turn)])
    return turn, script, (await agent.run("go")).output


@pytest.mark.anyio
async def test_the_model_sees_the_same_schema_and_the_notes() -> None:
    _, script, _ = await run(Completed(content=(Text(text="hello"),)))
    assert script.info is not None
    (tool,) = script.info.function_tools
    assert (tool.name, tool.description, tool.parameters_json_schema) == ("echo", "Say it again.", PARAMETERS)
    assert script.info.instructions == "echo repeats."


@pytest.mark.anyio
async def test_a_call_goes_through_the_turn() -> None:
    turn, _, output = await run(Completed(value={"n": 1}, content=(Text(text="hello"),)))
    assert turn.calls == [("echo", {"text": "hello"})]
    assert output == "hello"


@pytest.mark.anyio
async def test_without_text_the_value_is_answered() -> None:
    _, _, output = await run(Completed(value={"n": 1}))
    assert output == '{"n":1}'


@pytest.mark.anyio
async def test_arguments_that_do_not_fit_can_be_corrected() -> None:
    _, script, output = await run(
        Refused(policy="validation", reason="text is missing"), Completed(content=(Text(text="now it fits"),))
    )
    assert script.told[0] == '{"error":"text is missing"}'
    assert output == "now it fits"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Refused(policy="approval", reason="nobody may"), "Refused by approval: nobody may"),
        (Failed(code="BOOM", message="it broke"), "Failed (BOOM): it broke"),
    ],
)
async def test_a_refusal_or_failure_is_told_and_the_run_goes_on(outcome: Outcome, text: str) -> None:
    _, script, _ = await run(outcome)
    assert text in script.told[0]
