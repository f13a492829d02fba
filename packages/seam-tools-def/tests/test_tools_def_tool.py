"""Tools from typed functions, and what cannot be one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import cast

import pytest
from pydantic import BaseModel, JsonValue, ValidationError

from seam.tools_def import (
    Access,
    Agent,
    CallContext,
    CallRefusal,
    Grant,
    InvalidTool,
    Owner,
    Resolution,
    ResolvedCall,
    Text,
    Tool,
    ToolResult,
    ToolSchema,
    effects,
    tool,
)
from seam.tools_def.testing import RecordingContext, run_tool

pytestmark = pytest.mark.anyio


async def called(made: Tool, arguments: dict[str, JsonValue]) -> ToolResult:
    return await run_tool(made, arguments, RecordingContext(session="the session"))


async def test_parameters_become_the_schema_and_the_docstring_the_description() -> None:
    @tool(effects=effects("reads"), notes=("mind the gap",), deadline=5)
    async def look_up(word: str, times: int = 1) -> str:
        """Looks a word up."""
        return word * times

    descriptor = look_up.describe("plugin:p")
    assert (descriptor.name, descriptor.description) == ("look_up", "Looks a word up.")
    assert descriptor.parameters == {
        "type": "object",
        "properties": {"word": {"type": "string"}, "times": {"type": "integer", "default": 1}},
        "required": ["word"],
        "additionalProperties": False,
    }
    assert (descriptor.source, descriptor.deadline, descriptor.notes) == ("plugin:p", 5, ("mind the gap",))
    assert await called(look_up, {"word": "ab", "times": 2}) == "abab"


async def test_parameters_may_be_called_what_a_model_cannot() -> None:
    @tool(effects=effects())
    async def odd(
        json: str, model_name: str, copy: int = 2, _hidden: bool = False, context: object = None
    ) -> list[object]:
        """Has odd names."""
        return [json, model_name, copy, _hidden]

    parameters = odd.describe("p").parameters
    assert isinstance(parameters, dict)
    assert set(cast("dict[str, object]", parameters["properties"])) == {
        "json",
        "model_name",
        "copy",
        "_hidden",
        "context",
    }
    assert await called(odd, {"json": "a", "model_name": "b", "copy": 3, "_hidden": True}) == [
        "a",
        "b",
        3,
        True,
    ]


async def test_the_context_is_given_and_not_part_of_the_schema() -> None:
    @tool(effects=effects())
    async def where(surroundings: CallContext) -> str:
        """Says where."""
        return surroundings.owner.session

    parameters = where.describe("p").parameters
    assert isinstance(parameters, dict)
    assert parameters["properties"] == {}
    assert await called(where, {}) == "the session"


async def test_a_context_for_tests_keeps_what_a_tool_reports() -> None:
    @tool(effects=effects())
    async def work(context: CallContext) -> None:
        """Works."""
        context.progress("half", done=1, total=2)
        context.output("line", stream="stderr")
        context.keep({"so": "far"}, [Text(text="far")])

    context = RecordingContext(
        agent=Agent(name="a", workspace="/w"), access=Access(principal="p", platform="mcp")
    )
    await run_tool(work, {}, context)
    assert (context.reports, context.outputs) == (["half"], [("stderr", "line")])
    assert context.kept == ({"so": "far"}, (Text(text="far"),))
    assert (context.owner.agent, context.access.platform, context.turn, context.call) == (
        "a",
        "mcp",
        "t1",
        "c1",
    )
    assert (context.agent.workspace, context.questions, context.skills) == ("/w", None, ())
    with pytest.raises(CallRefusal, match="no skill"):
        await context.describe_skill("guide")


async def test_a_test_run_resolves_first_and_runs_with_the_plan() -> None:
    async def resolve(parameters: BaseModel, context: CallContext) -> Resolution:
        return Resolution(subject={"workdir": "/w"}, plan="the plan", deadline=5, effects=effects("reads"))

    async def show(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        return [resolved.plan, resolved.subject, resolved.deadline, resolved.effects.risky]

    made = Tool(name="t", description="D.", parameters=Nothing, resolve=resolve, run=show)
    assert await run_tool(made, {}, RecordingContext()) == ["the plan", {"workdir": "/w"}, 5, False]


def not_async(a: int) -> int:
    """Sync."""
    return a


async def no_annotation(a) -> None:  # type: ignore[no-untyped-def] # pyright: ignore
    """No annotation."""


async def variadic(*a: int) -> None:
    """Variadic."""


async def unknown(a: Missing) -> None:  # type: ignore[name-defined] # noqa: F821 # pyright: ignore
    """An unknown type."""


async def silent(a: int) -> None:
    pass


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (not_async, "not an async function"),
        (no_annotation, "no type annotation"),  # pyright: ignore[reportUnknownArgumentType]
        (variadic, "cannot be a named argument"),
        (unknown, "'Missing' of a parameter is not known"),  # pyright: ignore[reportUnknownArgumentType]
        (silent, "no description"),
    ],
)
def test_what_cannot_be_a_tool_is_told_so(function: Callable[..., object], words: str) -> None:
    with pytest.raises(InvalidTool, match=words):
        tool()(function)  # pyright: ignore[reportArgumentType]


class Nothing(BaseModel):
    """No parameters."""


async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
    return None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "1st"}, "not a legal tool name"),
        ({"name": ""}, "not a legal tool name"),
        ({"description": " "}, "no description"),
        ({"deadline": 0}, "deadline is 0"),
        ({"deadline": float("inf")}, "deadline is inf"),
        ({"deadline": float("nan")}, "deadline is nan"),
        ({"parameters": dict}, "not a pydantic model class"),
        ({"parameters": Nothing()}, "not a pydantic model class"),
    ],
)
def test_a_tool_that_cannot_work_is_refused_when_it_is_made(changes: dict[str, object], words: str) -> None:
    base: dict[str, object] = {"name": "t", "description": "D.", "parameters": Nothing, "run": run}
    with pytest.raises(InvalidTool, match=words):
        Tool(**(base | changes))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("deadline", [0, -1, float("inf"), float("nan")])
def test_deadlines_are_numbers_above_zero_everywhere(deadline: float) -> None:
    with pytest.raises(ValidationError):
        ToolSchema(name="t", description="D.", parameters={}, deadline=deadline)
    with pytest.raises(ValidationError):
        ResolvedCall(
            tool="t", descriptor="", arguments=None, effects=effects(), deadline=deadline, summary=""
        )


def grant(**changes: object) -> Grant:
    base: dict[str, object] = {
        "id": "g",
        "owner": Owner(agent="a", session="s"),
        "principal": "ann",
        "tool": "t",
        "descriptor": "d",
        "digest": "sha256:0",
        "rule": None,
        "reach": "session",
        "turn": None,
        "expires": None,
        "given_by": "ann",
        "given_at": datetime(2026, 1, 1, tzinfo=UTC),
    }
    return Grant.model_validate(base | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": "git *"},
        {"digest": None},
        {"reach": "turn"},
        {"turn": "t1"},
        {"given_at": datetime(2026, 1, 1)},
    ],
)
def test_a_grant_is_for_one_thing_and_one_reach(changes: dict[str, object]) -> None:
    assert grant().id == "g"
    with pytest.raises(ValidationError):
        grant(**changes)


def test_a_digest_means_what_is_decided_and_not_how_it_is_told() -> None:
    base = ResolvedCall(
        tool="t", descriptor="d", arguments={"a": 1}, effects=effects(), deadline=1, summary="s"
    )
    assert base.digest == base.model_copy(update={"summary": "other", "deadline": 2, "plan": object()}).digest
    for change in (
        {"tool": "u"},
        {"descriptor": "e"},
        {"arguments": {"a": 2}},
        {"subject": 1},
        {"effects": effects("reads")},
    ):
        assert ResolvedCall.model_validate(base.model_dump() | change).digest != base.digest
    assert Resolution().subject is None
