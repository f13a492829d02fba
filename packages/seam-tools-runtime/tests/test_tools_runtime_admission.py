"""Who may call what, and with which arguments: before anybody is asked."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from tools_runtime_fakes import DEFAULT, ScriptedPermissions, ScriptedPort, Stage, registered, staged
from tools_runtime_services import Library, Provider, schema

from seam.tools_def import (
    Access,
    Agent,
    Approve,
    CallContext,
    CallRefusal,
    CallRequested,
    Decision,
    OpenTurn,
    Refused,
    ResolvedCall,
    Tool,
    ToolResult,
    Visibility,
    effects,
    tool,
)

pytestmark = pytest.mark.anyio

VISIBILITIES = {
    "anywhere": Visibility(),
    "on_cli": Visibility(platforms=frozenset({"cli"})),
    "on_mcp": Visibility(platforms=frozenset({"mcp", "http"})),
    "in_private": Visibility(scopes=frozenset({"private"})),
    "in_channel": Visibility(scopes=frozenset({"channel"})),
    "for_admins": Visibility(permissions=frozenset({"admin", "audit"})),
    "concealed": Visibility(hidden=True),
}
ADMIN = frozenset({"admin", "audit"})
SEEN = ["anywhere", "on_cli", "in_private", "for_admins"]


class Nothing(BaseModel):
    """No parameters."""


async def do_nothing(resolved: ResolvedCall, context: CallContext) -> ToolResult:
    return "done"


def plain(stage: Stage) -> list[Tool]:
    return [
        Tool(
            name=name,
            description="D.",
            parameters=Nothing,
            run=do_nothing,
            effects=effects(),
            visibility=visibility,
        )
        for name, visibility in VISIBILITIES.items()
    ]


def provider() -> Provider:
    made = Provider(
        "outside",
        *(
            schema(f"their_{name}", visibility=visibility, effects=effects())
            for name, visibility in VISIBILITIES.items()
        ),
    )
    made.trusted = True
    return made


async def reasons(turn: OpenTurn, prefix: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in VISIBILITIES:
        outcome = await turn.call(prefix + name, {})
        found[name] = outcome.policy if isinstance(outcome, Refused) else outcome.kind
    return found


async def test_t_20_visibility_means_the_same_for_tools_services_and_skills() -> None:
    async with staged() as stage:
        stage.permissions = ScriptedPermissions(held=ADMIN)
        libraries = [
            registered(Library(f"lib_{name}", f"skill_{name}", visibility=visibility))
            for name, visibility in VISIBILITIES.items()
        ]
        catalogue = await stage.project(*plain(stage), services=[registered(provider()), *libraries])
        turn = await stage.open(catalogue)
        assert [item.name for item in turn.tools] == SEEN + [f"their_{name}" for name in SEEN]
        assert [item.id for item in turn.skills] == [f"skill_{name}" for name in SEEN]
        for prefix in ("", "their_"):
            assert await reasons(turn, prefix) == {
                name: "completed" if name in SEEN else "visibility" for name in VISIBILITIES
            }
        for name in VISIBILITIES:
            if name in SEEN:
                assert (await turn.describe_skill(f"skill_{name}")).id == f"skill_{name}"
            else:
                with pytest.raises(CallRefusal, match=r"no skill .* in view"):
                    await turn.describe_skill(f"skill_{name}")
        await turn.close()


async def test_t_20_the_door_decides_what_is_seen() -> None:
    async with (
        staged() as stage,
        stage.turn(*plain(stage), access=Access(principal="bot", platform="mcp", scope="channel")) as turn,
    ):
        assert [item.name for item in turn.tools] == ["anywhere", "on_mcp", "in_channel"]


async def test_t_20_permissions_are_checked_again_at_the_call() -> None:
    async with staged() as stage:
        stage.permissions = ScriptedPermissions(held=ADMIN)
        async with stage.turn(*plain(stage)) as turn:
            assert "for_admins" in [item.name for item in turn.tools]
            stage.permissions.held = frozenset({"audit"})
            outcome = await turn.call("for_admins", {})
            assert outcome == Refused(
                policy="permissions", reason="tool 'for_admins' is not permitted: 'ann' does not hold admin"
            )


async def test_t_21_a_tool_that_declares_permissions_is_not_permitted_without_a_service() -> None:
    async with staged() as stage, stage.turn(*plain(stage)) as turn:
        assert "for_admins" not in [item.name for item in turn.tools]
        outcome = await turn.call("for_admins", {})
        assert isinstance(outcome, Refused)
        assert outcome.policy == "permissions"
        assert "no `permissions` service" in outcome.reason


async def test_t_21_a_directory_that_is_down_permits_nothing() -> None:
    async with staged() as stage:
        stage.permissions = ScriptedPermissions(held=ADMIN)
        stage.permissions.broken = True
        async with stage.turn(*plain(stage)) as turn:
            assert "for_admins" not in [item.name for item in turn.tools]
            outcome = await turn.call("for_admins", {})
            assert isinstance(outcome, Refused)
            assert "the directory is down" in outcome.reason


async def test_t_22_hidden_is_callable_only_where_the_deployment_gave_the_name() -> None:
    trusted = Agent(name="default", workspace="/ws", call_hidden=frozenset({"concealed"}))
    async with staged() as stage:
        for agent, expected in ((trusted, "completed"), (DEFAULT, "refused")):
            stage.agents = (agent,)
            catalogue = await stage.project(*plain(stage))
            turn = await stage.open(catalogue)
            assert "concealed" not in [item.name for item in turn.tools]
            assert "concealed" not in turn.instructions()
            outcome = await turn.call("concealed", {})
            assert outcome.kind == expected
            await turn.close()
            stage.lease.released = 0
        # a hidden tool reads exactly as one that is not there
        assert isinstance(outcome, Refused)
        assert outcome.reason == "there is no tool 'concealed' in view; call one that is listed"


@tool(effects=effects("writes"))
async def save(path: str, size: int = Field(ge=0), tags: list[str] = []) -> str:  # noqa: B006
    """Saves."""
    return path


async def test_t_23_arguments_are_validated_before_anyone_is_asked() -> None:
    async with staged() as stage:
        stage.permissions = ScriptedPermissions(Decision(verdict="allow", reason="fine"))
        stage.approval = port = ScriptedPort(Approve(by="ann"))
        async with stage.turn(save) as turn:
            outcome = await turn.call("save", {"path": "a", "size": -1})
            assert isinstance(outcome, Refused)
            assert outcome.policy == "validation"
            assert "size:" in outcome.reason
            assert (port.requests, stage.permissions.asked) == ([], [])


OUTSIDE_SCHEMA: JsonValue = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "maxLength": 5_000_000},
        "size": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["path", "size"],
    "additionalProperties": False,
}

DEEP: list[JsonValue] = []
for _ in range(10_000):
    DEEP = [DEEP]  # pyright: ignore[reportConstantRedefinition] - built in a loop


@pytest.mark.parametrize("name", ["save", "store"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": "a", "size": 1, "mode": "x", "secret-value": 1}, "propert|no such parameter"),
        ({"path": "a"}, "size|required"),
        ({"path": 5, "size": 1}, "path"),
        ({"path": "a", "size": "many"}, "size"),
        ({"path": "a", "size": -1}, "size"),
        ({"path": "a", "size": 1, "tags": [1]}, "tags.0"),
        ({"path": "a", "size": 1, "tags": DEEP}, "nested deeper than 64 levels"),
        ({"path": "x" * 10_000_000, "size": 1}, "larger than 4194304 bytes"),
        ({"path": "a", "size": 1, "tags": ["x" * 10] * 1_000_000}, "larger than 4194304 bytes"),
        ({"path": "a", "size": float("nan")}, "not JSON"),
        ({"path": "a", "size": {1, 2}}, "not JSON"),
        ({1: 2}, "not JSON"),
        (["a"], "must be a JSON object"),
        (None, "must be a JSON object"),
        ("{}", "must be a JSON object"),
    ],
    ids=range(15),
)
async def test_arguments_that_do_not_fit_have_a_specific_refusal(
    name: str, arguments: object, words: str
) -> None:
    service = Provider("outside", schema("store", parameters=OUTSIDE_SCHEMA, effects=effects()))
    service.trusted = True
    async with staged() as stage, stage.turn(save, services=[registered(service)]) as turn:
        outcome = await turn.call(name, arguments)  # pyright: ignore[reportArgumentType]
        assert isinstance(outcome, Refused)
        assert outcome.policy == "validation"
        assert len(outcome.reason) < 3000
        assert any(word in outcome.reason for word in words.split("|"))
        (requested, *_) = await stage.records("call-1")
        assert isinstance(requested, CallRequested)
        assert len(requested.model_dump_json()) < 10_000
        # the next call is fine
        assert (await turn.call("store", {"path": "a", "size": 1})).kind == "completed"


async def test_a_value_that_does_not_fit_is_never_repeated() -> None:
    service = Provider("outside", schema("store", parameters=OUTSIDE_SCHEMA))
    async with staged() as stage, stage.turn(save, services=[registered(service)]) as turn:
        for name in ("save", "store"):
            outcome = await turn.call(name, {"path": ["hunter2"], "size": "hunter2"})
            assert isinstance(outcome, Refused)
            assert "hunter2" not in outcome.reason


async def test_a_service_may_change_the_arguments_that_it_is_given() -> None:
    async def run_and_pop() -> None:
        service = Provider("outside", schema("store", effects=effects()))
        service.trusted = True
        async with staged() as stage, stage.turn(services=[registered(service)]) as turn:
            await turn.call("store", {"a": {"b": [1]}})
            ((_, _, given),) = service.executed
            assert isinstance(given, dict)
            given.clear()  # a plain dictionary of its own
            (requested, *_) = await stage.records("call-1")
            assert isinstance(requested, CallRequested)
            assert requested.arguments == {"a": {"b": [1]}}

    await run_and_pop()


async def test_the_validated_arguments_are_complete_in_what_is_resolved() -> None:
    asked = ScriptedPermissions(Decision(verdict="deny", reason="seen enough"))
    async with staged() as stage:
        stage.permissions = asked
        async with stage.turn(save) as turn:
            await turn.call("save", {"path": "a", "size": "5"})
    (resolved,) = asked.asked
    assert resolved.arguments == {"path": "a", "size": 5, "tags": []}
    assert resolved.summary == 'save {"path":"a","size":5,"tags":[]}'


async def test_aliases_and_open_models_are_taken_as_the_model_says() -> None:
    class Aliased(BaseModel):
        model_config = ConfigDict(extra="allow")
        from_: str = Field(alias="from")

    seen: list[JsonValue] = []

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        seen.append(resolved.arguments)
        return None

    move = Tool(name="move", description="Moves.", parameters=Aliased, run=run, effects=effects())
    async with staged() as stage, stage.turn(move) as turn:
        assert (await turn.call("move", {"from": "a", "more": 1})).kind == "completed"
    assert seen == [{"from": "a", "more": 1}]
