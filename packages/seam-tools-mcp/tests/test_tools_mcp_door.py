"""The door with the official client, in both protocol eras, over a fake gate and a memory transport."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.context import ClientRequestContext
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from tools_mcp_fakes import ECHO, FakeGate

from seam.tools_def import Access
from seam.tools_mcp import McpConfig
from seam.tools_mcp._door import Door
from seam.tools_mcp._sessions import Conversation

pytestmark = pytest.mark.anyio

Mode = Literal["legacy", "auto"]
both_eras = pytest.mark.parametrize("mode", ["legacy", "auto"])


@asynccontextmanager
async def connected(
    gate: FakeGate, mode: Mode, *, answer: str | None = None, action: str = "accept", timeout: float = 30
) -> AsyncGenerator[Client]:
    conversation = Conversation(id="s1", agent="default", access=Access(principal="me", platform="mcp"))
    asked: list[types.ElicitRequestParams] = []

    async def person(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params)
        content = {"answer": answer} if action == "accept" else None
        return types.ElicitResult.model_validate({"action": action, "content": content})

    def identify(ctx: ServerRequestContext[dict[str, object], object]) -> Conversation:
        return conversation

    body: Exception | None = None
    async with anyio.create_task_group() as tasks:
        door = Door(gate, McpConfig(approval_timeout=timeout), tasks, identify)
        gate.subscribe(lambda tools: door.published(tools, lambda: (conversation,)))
        await door.refresh(conversation)
        async with Client(
            door.server, mode=mode, elicitation_callback=person if answer or action != "accept" else None
        ) as client:
            try:
                yield client
            except Exception as error:
                body = error
        door.close()
        tasks.cancel_scope.cancel()
    if body is not None:
        raise body


def text(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))


@both_eras
async def test_tools_are_listed_with_schemas_and_hints(mode: Mode) -> None:
    async with connected(FakeGate(), mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == {"echo", "ask", "hang", "file"}
        echo, ask = listed["echo"], listed["ask"]
        assert echo.input_schema == ECHO.parameters
        assert echo.output_schema == ECHO.output
        assert echo.annotations is not None
        assert ask.annotations is not None
        assert (echo.annotations.read_only_hint, ask.annotations.read_only_hint) == (True, False)
        assert ask.annotations.open_world_hint is True


@both_eras
async def test_notes_become_instructions(mode: Mode) -> None:
    async with connected(FakeGate(), mode) as client:
        assert client.instructions == "echo repeats."


@both_eras
async def test_a_call_goes_through_a_turn_and_structure_and_progress_come_back(mode: Mode) -> None:
    gate = FakeGate()
    heard: list[tuple[float, float | None, str | None]] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with connected(gate, mode) as client:
        result = await client.call_tool("echo", {"text": "hello"}, progress_callback=progress)
        assert (text(result), result.structured_content, result.is_error) == (
            "hello",
            {"text": "hello"},
            False,
        )
        assert gate.calls == [("echo", {"text": "hello"})]
        assert gate.opened[-1][:2] == ("default", "s1")
        assert heard == [(1.0, 2.0, "half way")]


@both_eras
async def test_a_refusal_is_an_error_result_that_says_who_and_why(mode: Mode) -> None:
    async with connected(FakeGate(), mode) as client:
        result = await client.call_tool("ask", {})
        assert result.is_error
        assert text(result) == "Refused by approval: nobody is there to be asked"
        assert result.meta is not None
        assert result.meta["seam/outcome"] == {
            "kind": "refused",
            "policy": "approval",
            "reason": "nobody is there to be asked",
        }


@both_eras
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("yes", "allowed by me: once"),
        ("yes, for this session", "allowed by me: session"),
        ("rule: rm in build", "allowed by me: rule rm in build"),
        ("no", "Refused by approval: deny"),
    ],
)
async def test_approval_is_asked_through_the_client(mode: Mode, answer: str, expected: str) -> None:
    async with connected(FakeGate(), mode, answer=answer) as client:
        assert text(await client.call_tool("ask", {})) == expected


@both_eras
async def test_a_closed_question_is_no_consent_and_no_refusal(mode: Mode) -> None:
    async with connected(FakeGate(), mode, action="cancel") as client:
        assert text(await client.call_tool("ask", {})) == "Refused by approval: expired"


async def test_a_question_that_nobody_takes_up_again_cancels_the_call() -> None:
    gate = FakeGate()
    async with connected(gate, "auto", answer="yes", timeout=0.05) as client:
        first = await client.session.call_tool("ask", {}, allow_input_required=True)
        assert isinstance(first, types.InputRequiredResult)
        await anyio.sleep(0.2)  # longer than the configured time, which is the contract under test
        with pytest.raises(MCPError, match="waits for no answer any more"):
            await client.session.call_tool(
                "ask",
                {},
                input_responses={"answer": types.ElicitResult(action="accept", content={"answer": "yes"})},
                request_state=first.request_state,
            )


@both_eras
async def test_cancelling_the_request_cancels_the_call(mode: Mode) -> None:
    gate = FakeGate()
    async with connected(gate, mode) as client:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "hang")
                await gate.started.wait()
                scope.cancel()
        with anyio.fail_after(5):
            while not gate.cancelled:
                await anyio.sleep(0.01)


@both_eras
async def test_a_file_that_an_outcome_points_at_can_be_read_and_nothing_else(
    mode: Mode, tmp_path: Path
) -> None:
    gate = FakeGate()
    gate.path = str(tmp_path / "spill.txt")
    Path(gate.path).write_text("whole")
    async with connected(gate, mode) as client:
        result = await client.call_tool("file", {})
        (link,) = [block for block in result.content if isinstance(block, types.ResourceLink)]
        read = await client.read_resource(link.uri)
        (contents,) = read.contents
        assert isinstance(contents, types.TextResourceContents)
        assert contents.text == "whole"
        assert [resource.uri for resource in (await client.list_resources()).resources] == [link.uri]
        with pytest.raises(MCPError, match="no resource of this session"):
            await client.read_resource("seam-file:///etc/passwd")


async def test_a_new_generation_changes_the_list_and_tells_the_client() -> None:
    gate = FakeGate()
    told = anyio.Event()
    conversation = Conversation(id="s1", agent="default", access=Access(principal="me", platform="mcp"))

    async def hear(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            told.set()

    async with anyio.create_task_group() as tasks:
        door = Door(gate, McpConfig(), tasks, lambda ctx: conversation)
        gate.subscribe(lambda tools: door.published(tools, lambda: (conversation,)))
        async with Client(door.server, mode="legacy", message_handler=hear) as client:
            await client.list_tools()
            gate.publish(ECHO)
            with anyio.fail_after(5):
                await told.wait()
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
        tasks.cancel_scope.cancel()


@both_eras
async def test_an_unknown_tool_is_refused_through_the_turn(mode: Mode) -> None:
    gate = FakeGate()
    async with connected(gate, mode) as client:
        result = await client.call_tool("nothing", {})
        assert result.is_error
        assert gate.calls == [("nothing", {})], (
            "an unknown tool is recorded as a call, so the turn has to see it"
        )
