"""LangChain's own objects over a scripted turn."""

from __future__ import annotations

from typing import cast

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_fakes import PARAMETERS, turn_with

from seam.tools_def import Completed, Failed, Refused, Text
from seam.tools_def.testing import ScriptedTurn
from seam.tools_langchain import seam_tools


@pytest.fixture
def anyio_backend() -> str:
    """LangChain runs on asyncio only."""
    return "asyncio"


async def invoke(turn: ScriptedTurn, **arguments: object) -> ToolMessage:
    # the model side: a message with a tool call, as any chat model of LangChain makes it
    message = AIMessage(
        content="", tool_calls=[{"name": "echo", "args": dict(arguments), "id": "c1", "type": "tool_call"}]
    )
    (tool,) = seam_tools(turn)
    answer = await tool.ainvoke(message.tool_calls[0])
    assert isinstance(answer, ToolMessage)
    return answer


def test_the_schema_is_what_every_model_sees() -> None:
    (tool,) = seam_tools(turn_with())
    function = cast("dict[str, object]", convert_to_openai_tool(tool)["function"])
    assert (function["name"], function["description"]) == ("echo", "Say it again.")
    assert (
        cast("dict[str, object]", function["parameters"])["properties"]
        == cast("dict[str, object]", PARAMETERS)["properties"]
    )


@pytest.mark.anyio
async def test_a_call_goes_through_the_turn_and_text_and_facts_come_back() -> None:
    turn = turn_with(Completed(value={"n": 1}, content=(Text(text="hello"),)))
    message = await invoke(turn, text="hello")
    assert turn.calls == [("echo", {"text": "hello"})]
    assert (message.content, message.status, message.tool_call_id) == ("hello", "success", "c1")
    assert message.artifact == Completed(value={"n": 1}, content=(Text(text="hello"),))


@pytest.mark.anyio
async def test_without_text_the_value_is_the_content() -> None:
    assert (await invoke(turn_with(Completed(value={"n": 1})), text="x")).content == '{"n": 1}'


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Refused(policy="approval", reason="nobody may"), "Refused by approval: nobody may"),
        (Failed(code="BOOM", message="it broke"), "Failed (BOOM): it broke"),
        (Completed(value=None, content=(Text(text="Exit code 3"),), success=False), "Exit code 3"),
    ],
)
async def test_what_is_not_a_success_says_so(outcome: Refused | Failed | Completed, text: str) -> None:
    message = await invoke(turn_with(outcome), text="x")
    assert (message.content, message.status) == (text, "error")


def test_a_synchronous_call_is_refused_with_the_way_out() -> None:
    (tool,) = seam_tools(turn_with())
    with pytest.raises(NotImplementedError, match="ainvoke"):
        tool.invoke({"text": "x"})
