"""Whatever is sent, a call has an outcome and a record."""

from __future__ import annotations

from functools import partial

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue, SecretStr
from tools_runtime_fakes import ScriptedPort, registered, staged
from tools_runtime_services import Provider, schema

from seam.tools_def import (
    ApprovalAnswered,
    CallRequested,
    Completed,
    Edit,
    ProjectionRejected,
    Refused,
    Visibility,
    effects,
    tool,
)

NASTY = st.text(st.characters(exclude_categories=()), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NASTY,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NASTY, inner, max_size=4),
    max_leaves=15,
)
SENSIBLE = st.fixed_dictionaries(
    {}, optional={"path": NASTY | JSON, "size": st.integers() | JSON, "tags": st.lists(NASTY) | JSON}
)
FOREIGN: JsonValue = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "size": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["path"],
    "additionalProperties": False,
}


@tool(effects=effects())
async def mine(path: str, size: int = 0, tags: list[str] = []) -> dict[str, object]:  # noqa: B006
    """Gives back what it got."""
    return {"path": path, "size": size, "tags": tags}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arguments=JSON | SENSIBLE)
def test_any_arguments_have_an_outcome_and_a_whole_record(anyio_backend: str, arguments: JsonValue) -> None:
    anyio.run(partial(_send, arguments), backend=anyio_backend)


async def _send(arguments: JsonValue) -> None:
    service = Provider("outside", schema("theirs", parameters=FOREIGN, effects=effects()))
    service.trusted = True
    async with staged() as stage, stage.turn(mine, services=[registered(service)]) as turn:
        for number, name in enumerate(("mine", "theirs"), 1):
            outcome = await turn.call(name, arguments)
            kinds = await stage.kinds(f"call-{number}")
            if isinstance(outcome, Completed):
                assert kinds == ["requested", "decided", "started", "settled"]
            else:
                assert isinstance(outcome, Refused)
                assert outcome.policy == "validation"
                assert kinds == ["requested", "decided", "settled"]
        assert not await stage.journal.verify()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stated=JSON)
def test_any_schema_is_taken_or_rejected_by_name(anyio_backend: str, stated: JsonValue) -> None:
    anyio.run(partial(_state, stated), backend=anyio_backend)


async def _state(stated: JsonValue) -> None:
    parameters: JsonValue = {"type": "object", "properties": stated}
    service = Provider("outside", schema("theirs", parameters=parameters))
    async with staged() as stage:
        try:
            catalogue = await stage.project(services=[registered(service)])
        except ProjectionRejected as rejected:
            assert "provider:outside" in str(rejected)
        else:
            assert [descriptor.name for descriptor in catalogue.tools("default")] == ["theirs"]


class Login(BaseModel):
    user: str
    password: SecretStr


@pytest.mark.anyio
async def test_an_edit_of_arguments_with_secrets_keeps_what_the_person_was_not_shown() -> None:
    seen: list[str] = []

    @tool(effects=effects("network"))
    async def connect(logins: list[Login], host: str) -> None:
        """Connects."""
        seen.extend([host, *(login.user + ":" + login.password.get_secret_value() for login in logins)])

    async with staged() as stage:
        changed: JsonValue = {
            "host": "safe",
            "logins": [
                {"user": "ann", "password": "[redacted]"},
                {"user": "bob", "password": "new"},
                {"user": "eve", "password": "more"},
            ],
        }
        stage.approval = ScriptedPort(Edit(by="ann", arguments=changed))
        async with stage.turn(connect) as turn:
            given: JsonValue = {
                "host": "risky",
                "logins": [{"user": "ann", "password": "hunter2"}, {"user": "bob", "password": "old"}],
            }
            assert (await turn.call("connect", given)).kind == "completed"
            records = await stage.records()
            assert not any("hunter2" in record.model_dump_json() for record in records)
            assert not any('"new"' in record.model_dump_json() for record in records)
            assert any(isinstance(record, ApprovalAnswered) for record in records)
    assert seen == ["safe", "ann:hunter2", "bob:new", "eve:more"]


@pytest.mark.anyio
async def test_secrets_of_a_tool_out_of_view_are_not_written_either() -> None:
    @tool(effects=effects(), visibility=Visibility(hidden=True))
    async def concealed(password: SecretStr) -> None:
        """Hidden."""

    async with staged() as stage, stage.turn(concealed) as turn:
        assert (await turn.call("concealed", {"password": "hunter2"})).kind == "refused"
        requested = (await stage.records("call-1"))[0]
        assert isinstance(requested, CallRequested)
        assert requested.arguments == {"password": "[redacted]"}
        assert requested.descriptor is None


@pytest.mark.anyio
@pytest.mark.parametrize("deadline", [0, -1.0, float("inf"), float("nan"), "soon"])
async def test_a_provider_with_an_impossible_deadline_is_named(deadline: object) -> None:
    service = Provider("outside", schema("theirs"))
    service.deadline = deadline  # pyright: ignore[reportAttributeAccessIssue]
    async with staged() as stage:
        with pytest.raises(ProjectionRejected, match=r"provider:outside.*states a deadline of"):
            await stage.project(services=[registered(service)])
