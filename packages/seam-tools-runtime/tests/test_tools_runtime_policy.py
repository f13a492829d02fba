"""Denies before questions; one question; consent for one digest."""

from __future__ import annotations

from typing import Literal

import anyio
import pytest
from pydantic import BaseModel, JsonValue
from tools_runtime_fakes import ANN, OWNER, FakeLease, ScriptedPermissions, ScriptedPort, Stage, staged

from seam.tools_def import (
    ApprovalAnswer,
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalDesk,
    ApprovalPort,
    ApprovalRequest,
    Approve,
    CallContext,
    CallDecided,
    CallInfo,
    CallSettled,
    CallStarted,
    Cancelled,
    Completed,
    Decision,
    Deny,
    Edit,
    Expired,
    GrantBook,
    Outcome,
    Refused,
    Resolution,
    ResolvedCall,
    Tool,
    ToolResult,
    Widen,
    effects,
    tool,
)

pytestmark = pytest.mark.anyio


A: JsonValue = {"path": "a"}


class Written:
    """What the tool did."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        written = self.paths

        @tool(effects=effects("writes"))
        async def write(path: str) -> str:
            """Writes a path."""
            written.append(path)
            return path

        self.tool = write


def allow(reason: str = "fine", rule: str = "") -> Decision:
    return Decision(verdict="allow", rule=rule, reason=reason)


def ask(reason: str, *grants: str) -> Decision:
    return Decision(verdict="ask", reason=reason, grants=grants)


def deny(reason: str) -> Decision:
    return Decision(verdict="deny", reason=reason)


def hook(stage: Stage, plugin: str, decision: Decision | Exception | None) -> list[CallInfo]:
    told: list[CallInfo] = []

    async def listener(info: CallInfo) -> Decision | None:
        told.append(info)
        if isinstance(decision, Exception):
            raise decision
        return decision

    stage.emitter.before.append((plugin, listener))
    return told


async def test_t_24_all_denies_are_evaluated_before_asking_and_an_ask_hides_none() -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = port = ScriptedPort(Approve(by="ann"))
        hook(stage, "first", ask("first wants to know"))
        hook(stage, "second", allow("second is fine"))
        late = hook(stage, "third", deny("third says never"))
        stage.permissions = ScriptedPermissions(deny("the rules forbid it"))
        async with stage.turn(done.tool) as turn:
            outcome = await turn.call("write", {"path": "a"})
            assert outcome == Refused(policy="hook third", reason="third says never; the rules forbid it")
            decided = [r for r in await stage.records("call-1") if isinstance(r, CallDecided)]
            assert [(item.by, item.verdict) for item in decided] == [
                ("hook first", "ask"),
                ("hook second", "allow"),
                ("hook third", "deny"),
                ("permissions", "deny"),
            ]
    assert (port.requests, done.paths, len(late)) == ([], [], 1)


async def test_t_25_one_question_with_all_reasons() -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = port = ScriptedPort(Approve(by="ann"))
        hook(stage, "budget", ask("it is late"))
        stage.permissions = ScriptedPermissions(ask("outside of the workspace", "write *"))
        async with stage.turn(done.tool) as turn:
            assert (await turn.call("write", {"path": "a"})).kind == "completed"
            (request,) = port.requests
            assert request.reasons == ("it is late", "outside of the workspace", "write writes")
            assert request.rules == ("write *",)
            assert request.resolved.arguments == {"path": "a"}
            assert (request.owner, request.access, request.call) == (OWNER, ANN, "call-1")
            asked, answered, decided, started = (await stage.records("call-1"))[3:-1]
            assert isinstance(asked, ApprovalAsked)
            assert isinstance(answered, ApprovalAnswered)
            assert (answered.answer, answered.by, asked.approval) == ("approve", "ann", answered.approval)
            assert isinstance(decided, CallDecided)
            assert isinstance(started, CallStarted)
            assert started.allowed_by == "approval: ann"
            assert {asked.digest, answered.digest, decided.digest, started.digest} == {
                request.resolved.digest
            }


async def test_an_allow_by_policy_waives_on_risk_but_never_always() -> None:
    @tool(effects=effects("writes"), requires_approval="always")
    async def dangerous() -> None:
        """Always asked about."""

    @tool(effects=effects("writes"), requires_approval="never")
    async def casual() -> None:
        """Never asked about."""

    done = Written()
    async with staged() as stage:
        stage.permissions = ScriptedPermissions(allow(rule="rules.toml: write"))
        async with stage.turn(done.tool, dangerous, casual) as turn:
            assert (await turn.call("write", {"path": "a"})).kind == "completed"
            started = [r for r in await stage.records("call-1") if isinstance(r, CallStarted)]
            assert started[0].allowed_by == "permissions: rules.toml: write"
            outcome = await turn.call("dangerous", {})
            assert outcome == Refused(
                policy="approval",
                reason="it needs an approval, and this turn has nobody to ask (dangerous always needs an approval)",
            )
            stage.permissions.decision = None
            assert (await turn.call("casual", {})).kind == "completed"


async def test_t_26_t_27_unattended_and_approval_needed_is_refused_and_the_tool_never_called() -> None:
    done = Written()
    async with staged() as stage, stage.turn(done.tool) as turn:
        outcome = await turn.call("write", {"path": "a"})
        assert isinstance(outcome, Refused)
        assert outcome.policy == "approval"
        assert "nobody to ask (write writes)" in outcome.reason
        assert await stage.kinds() == ["requested", "decided", "settled"]
    assert done.paths == []


@pytest.mark.parametrize("answer", [RuntimeError("the chat is down"), "a text", None])
async def test_t_28_a_port_that_raises_or_answers_nonsense_means_refused_recorded_settled(
    answer: object,
) -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = ScriptedPort(answer)  # pyright: ignore[reportArgumentType]
        async with stage.turn(done.tool) as turn:
            outcome = await turn.call("write", {"path": "a"})
            assert isinstance(outcome, Refused)
            assert outcome.policy == "approval"
            records = await stage.records("call-1")
            answered = [r for r in records if isinstance(r, ApprovalAnswered)]
            assert [item.answer for item in answered] == ["error"]
            assert isinstance(records[-1], CallSettled)
    assert done.paths == []


class BrokenGrants(GrantBook):
    """Cannot be asked."""

    def find(self, *arguments: object, **named: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise RuntimeError("broken policy")


@pytest.mark.parametrize("who", ["hook", "permissions", "grants", "garbage"])
async def test_t_28_a_policy_that_raises_means_refused_recorded_settled(who: str) -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = port = ScriptedPort(Approve(by="ann"))
        broken = RuntimeError("broken policy")
        if who == "hook":
            hook(stage, "gate", broken)
        if who == "permissions":
            stage.permissions = ScriptedPermissions(broken)
        if who == "garbage":
            stage.permissions = ScriptedPermissions("yes")  # pyright: ignore[reportArgumentType]
        if who == "grants":
            stage.grants = BrokenGrants()
        async with stage.turn(done.tool) as turn:
            outcome = await turn.call("write", {"path": "a"})
            assert isinstance(outcome, Refused)
            assert "broken policy" in outcome.reason or "answered with a str" in outcome.reason
            assert isinstance((await stage.records("call-1"))[-1], CallSettled)
    assert (port.requests, done.paths) == ([], [])


async def test_t_29_pi_014_a_turn_cancelled_while_a_question_is_open_never_starts_the_tool() -> None:
    done = Written()
    notified = anyio.Event()

    def notify(request: ApprovalRequest) -> None:
        asked.append(request)
        notified.set()

    asked: list[ApprovalRequest] = []
    async with staged() as stage:
        stage.approval = desk = ApprovalDesk(notify)
        async with stage.turn(done.tool) as turn:
            outcomes: list[Outcome] = []

            async def call() -> None:
                outcomes.append(await turn.call("write", {"path": "a"}))

            async with anyio.create_task_group() as callers:
                callers.start_soon(call)
                await notified.wait()
                callers.cancel_scope.cancel()
            assert outcomes == []
            assert desk.pending == ()
            records = await stage.records("call-1")
            answered = [r for r in records if isinstance(r, ApprovalAnswered)]
            assert [(item.answer, item.late) for item in answered] == [("cancelled", False)]
            settled = records[-1]
            assert isinstance(settled, CallSettled)
            assert isinstance(settled.outcome, Cancelled)
            assert not settled.ran
            # a late yes starts nothing and is told so; it is not remembered as a refusal either
            with pytest.raises(Exception, match="starts nothing"):
                desk.answer(asked[0].approval, Approve(by="ann"))
    assert done.paths == []


class Deaf(ApprovalPort):
    """Does not notice that nobody waits any more, and says yes then."""

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.let_go = anyio.Event()

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.asked.set()
        with anyio.CancelScope(shield=True):
            await self.let_go.wait()
        return Approve(by="ann", grant="session")


async def test_t_29_a_late_yes_of_a_deaf_port_starts_nothing_and_grants_nothing() -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = port = Deaf()
        async with stage.turn(done.tool) as turn:
            async with anyio.create_task_group() as callers:
                callers.start_soon(turn.call, "write", A)
                await port.asked.wait()
                callers.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await anyio.wait_all_tasks_blocked()
                port.let_go.set()
            answered = [r for r in await stage.records("call-1") if isinstance(r, ApprovalAnswered)]
            assert [(item.answer, item.late) for item in answered] == [("approve", True)]
            assert list(stage.grants.list()) == []
    assert done.paths == []


async def test_t_29_a_closed_turn_ends_the_question_too() -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = port = ScriptedPort()
        turn = await stage.open(await stage.project(done.tool))
        outcomes: list[Outcome] = []

        async def call() -> None:
            outcomes.append(await turn.call("write", {"path": "a"}))

        async with anyio.create_task_group() as callers:
            callers.start_soon(call)
            await port.asked.wait()
            await turn.close("drained", "the generation was retired")
        assert outcomes == [Cancelled(reason="the turn was closed (drained)")]
        assert [record.kind for record in await stage.records()][-2:] == ["settled", "turn_closed"]
    assert done.paths == []


class Retiring(ApprovalPort):
    """The generation is retired while the person thinks; then she says yes."""

    def __init__(self, lease: FakeLease) -> None:
        self.lease = lease

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.lease.retired = "generation 7 was retired"
        return Approve(by="ann")


async def test_t_30_the_generation_is_checked_again_after_the_answer() -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = Retiring(stage.lease)
        async with stage.turn(done.tool) as turn:
            outcome = await turn.call("write", {"path": "a"})
            assert outcome == Refused(policy="generation", reason="generation 7 was retired")
            kinds = await stage.kinds()
            assert "started" not in kinds
            # and a late call is refused before anybody is asked
            await turn.call("write", {"path": "b"})
            assert await stage.kinds("call-2") == ["requested", "decided", "settled"]
    assert done.paths == []


class Place(BaseModel):
    """Parameters."""

    command: str = "x"


def resolving(subject: dict[str, JsonValue], ran: list[object]) -> Tool:
    async def resolve(parameters: BaseModel, context: CallContext) -> Resolution:
        return Resolution(subject=dict(subject), summary="runs it", plan=dict(subject))

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        ran.append(resolved.plan)
        return None

    return Tool(
        name="shell",
        description="Runs.",
        parameters=Place,
        resolve=resolve,
        run=run,
        effects=effects("executes"),
    )


async def test_t_31_consent_holds_for_the_digest_and_any_change_asks_again() -> None:
    subject: dict[str, JsonValue] = {
        "workdir": "/ws",
        "environment": {"A": "1"},
        "binary": "/bin/bash",
        "isolation": "read-only",
        "executor": ["local", "1"],
    }
    ran: list[object] = []
    changes: list[tuple[str, JsonValue]] = [
        ("workdir", "/tmp"),
        ("environment", {"A": "2"}),
        ("binary", "/bin/sh"),
        ("isolation", "full-access"),
        ("executor", ["local", "2"]),
    ]
    async with staged() as stage:
        stage.approval = port = ScriptedPort(*[Approve(by="ann", grant="session") for _ in range(7)])
        async with stage.turn(resolving(subject, ran)) as turn:
            await turn.call("shell", {})
            await turn.call("shell", {})
            assert len(port.requests) == 1
            for field, value in changes:
                before = subject[field]
                subject[field] = value
                await turn.call("shell", {})
                subject[field] = before
            assert len(port.requests) == 1 + len(changes)
            await turn.call("shell", {"command": "y"})
            assert len(port.requests) == 2 + len(changes)
    assert len(ran) == 3 + len(changes)
    assert len({request.resolved.digest for request in port.requests}) == len(port.requests)


async def test_t_32_an_edited_approval_runs_the_edited_arguments_and_the_record_shows_both() -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = port = ScriptedPort(Edit(by="ann", arguments={"path": "safe"}))
        async with stage.turn(done.tool) as turn:
            outcome = await turn.call("write", {"path": "risky"})
            assert isinstance(outcome, Completed)
            records = await stage.records("call-1")
            assert [record.kind for record in records] == [
                "requested",
                "approval_asked",
                "approval_answered",
                "decided",
                "started",
                "settled",
            ]
            answered = records[2]
            assert isinstance(answered, ApprovalAnswered)
            assert (answered.answer, answered.arguments) == ("edit", {"path": "safe"})
            started = records[4]
            assert isinstance(started, CallStarted)
            assert started.allowed_by == "approval: ann"
            assert started.digest != answered.digest
    assert done.paths == ["safe"]
    assert len(port.requests) == 1


async def test_t_32_an_edit_starts_again_at_validation_and_policy() -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = ScriptedPort(
            Edit(by="ann", arguments={"path": 5}), Edit(by="ann", arguments={"path": "forbidden"})
        )

        async def gate(info: CallInfo) -> Decision | None:
            arguments = info.resolved.arguments
            assert isinstance(arguments, dict)
            return deny("not that one") if arguments["path"] == "forbidden" else None

        stage.emitter.before.append(("gate", gate))
        async with stage.turn(done.tool) as turn:
            outcome = await turn.call("write", {"path": "a"})
            assert isinstance(outcome, Refused)
            assert outcome.policy == "validation"
            assert await turn.call("write", {"path": "a"}) == Refused(
                policy="hook gate", reason="not that one"
            )
    assert done.paths == []


async def test_t_32_an_edit_that_brings_a_new_reason_is_asked_about_again() -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = port = ScriptedPort(Edit(by="ann", arguments={"path": "outside"}), Approve(by="ann"))

        async def gate(info: CallInfo) -> Decision | None:
            arguments = info.resolved.arguments
            assert isinstance(arguments, dict)
            return ask("outside of the workspace") if arguments["path"] == "outside" else None

        stage.emitter.before.append(("gate", gate))
        async with stage.turn(done.tool) as turn:
            await turn.call("write", {"path": "a"})
        assert [request.reasons for request in port.requests] == [
            ("write writes",),
            ("outside of the workspace", "write writes"),
        ]
    assert done.paths == ["outside"]


async def test_a_person_who_edits_for_ever_is_stopped() -> None:
    done = Written()
    async with staged(edits=2) as stage:
        stage.permissions = ScriptedPermissions()
        numbers = iter(range(100))

        async def gate(info: CallInfo) -> Decision | None:
            return ask(f"reason {next(numbers)}")

        stage.emitter.before.append(("gate", gate))
        stage.approval = ScriptedPort(*[Edit(by="ann", arguments={"path": "x"}) for _ in range(9)])
        async with stage.turn(done.tool) as turn:
            outcome = await turn.call("write", {"path": "a"})
            assert outcome == Refused(
                policy="approval", reason="its arguments were changed too often by the one who is asked"
            )
    assert done.paths == []


async def test_t_33_once_is_used_once() -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = port = ScriptedPort(Approve(by="ann"), Deny(by="ann"))
        async with stage.turn(done.tool) as turn:
            assert (await turn.call("write", {"path": "a"})).kind == "completed"
            assert (await turn.call("write", {"path": "a"})).kind == "refused"
        assert len(port.requests) == 2
    assert done.paths == ["a"]


@pytest.mark.parametrize(("reach", "asked"), [("turn", 2), ("session", 1)])
async def test_t_33_a_turn_grant_ends_with_the_turn_a_session_grant_goes_on(
    reach: Literal["turn", "session"], asked: int
) -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = port = ScriptedPort(*[Approve(by="ann", grant=reach)] * 3)
        catalogue = await stage.project(done.tool)
        for _ in range(2):
            turn = await stage.open(catalogue)
            for _ in range(2):
                assert (await turn.call("write", {"path": "a"})).kind == "completed"
            await turn.close()
            stage.lease.released = 0
        assert len(port.requests) == asked
        other = await stage.open(catalogue, session="s2")
        await other.call("write", {"path": "a"})
        await other.close()
        assert len(port.requests) == asked + 1
        records = await stage.records("call-2")
        assert any(isinstance(r, CallDecided) and r.by.startswith("grant: ") for r in records)


async def test_t_33_a_grant_is_for_a_rule_that_was_shown_and_void_when_the_tool_changes() -> None:
    done = Written()
    async with staged() as stage:
        stage.permissions = ScriptedPermissions(ask("outside", "write"))
        stage.approval = port = ScriptedPort(
            Approve(by="ann", grant="rule", rule="everything"),
            Approve(by="ann", grant="rule", rule="write", expires=3600),
        )
        async with stage.turn(done.tool) as turn:
            outcome = await turn.call("write", {"path": "a"})
            assert isinstance(outcome, Refused)
            assert "a rule that was not shown ('everything')" in outcome.reason
            assert (await turn.call("write", {"path": "b"})).kind == "completed"
            assert (await turn.call("write", {"path": "c"})).kind == "completed"
            assert len(port.requests) == 2
            (grant,) = stage.grants.list()
            assert (grant.rule, grant.digest, grant.reach, grant.given_by) == (
                "write",
                None,
                "session",
                "ann",
            )
            assert grant.expires is not None
        stage.lease.released = 0
        stage.approval = None

        @tool(effects=effects("writes"), description="Another description.")
        async def write(path: str) -> str:
            return path

        async with stage.turn(write) as turn:
            assert (await turn.call("write", {"path": "b"})).kind == "refused"
        assert stage.grants.revoke(grant.id)
    assert done.paths == ["b", "c"]


async def test_t_33_a_refusal_by_a_person_is_remembered_for_the_digest_a_time_out_is_not() -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = port = ScriptedPort(Deny(by="ann", reason="no"), Expired(), Approve(by="ann"))
        async with stage.turn(done.tool) as turn:
            first = await turn.call("write", {"path": "a"})
            assert first == Refused(policy="approval", reason="ann said no: no")
            again = await turn.call("write", {"path": "a"})
            assert isinstance(again, Refused)
            assert "has said no to exactly this in this turn: no" in again.reason
            assert len(port.requests) == 1
            late = await turn.call("write", {"path": "b"})
            assert late == Refused(policy="approval", reason="nobody said yes: nobody answered in time")
            assert (await turn.call("write", {"path": "b"})).kind == "completed"
    assert done.paths == ["b"]


async def test_nobody_who_answers_in_time_is_a_refusal() -> None:
    done = Written()
    async with staged(approval_timeout=0.05) as stage:
        stage.approval = ScriptedPort()
        async with stage.turn(done.tool) as turn:
            outcome = await turn.call("write", {"path": "a"})
            assert outcome == Refused(policy="approval", reason="nobody answered in time")
            answered = [r for r in await stage.records("call-1") if isinstance(r, ApprovalAnswered)]
            assert [item.answer for item in answered] == ["expired"]


async def test_a_wider_mode_is_asked_about_even_where_the_tool_is_not() -> None:
    async def resolve(parameters: BaseModel, context: CallContext) -> Resolution:
        return Resolution(actions=(Widen(mode="full-access", why="needs the network"),))

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        return None

    wide = Tool(
        name="wide",
        description="Wide.",
        parameters=Place,
        resolve=resolve,
        run=run,
        effects=effects("reads"),
        requires_approval="never",
    )
    async with staged() as stage:
        stage.approval = port = ScriptedPort(Approve(by="ann"))
        async with stage.turn(wide) as turn:
            await turn.call("wide", {})
        assert port.requests[0].reasons == ("it asks for the wider mode full-access: needs the network",)


async def test_an_answer_settles_the_next_question_about_the_same() -> None:
    done = Written()
    async with staged() as stage:
        stage.approval = port = ScriptedPort(Approve(by="ann", grant="turn"))
        async with stage.turn(done.tool) as turn, anyio.create_task_group() as callers:
            for _ in range(3):
                callers.start_soon(turn.call, "write", A)
        assert len(port.requests) == 1
    assert done.paths == ["a", "a", "a"]


@pytest.mark.parametrize(
    ("resolution", "words"),
    [
        (Resolution(effects=effects("network")), "effects that the tool does not declare: network"),
        (Resolution(deadline=0), "deadline of 0"),
        (Resolution(deadline=float("inf")), "deadline of inf"),
        (Resolution.model_construct(subject=object(), actions=(), effects=None, deadline=None, summary="", plan=None), "cannot hold"),  # pyright: ignore[reportArgumentType]
        ("text", "answered with a str"),
    ],
)  # fmt: skip
async def test_a_resolution_that_cannot_be_used_is_a_failure_before_anybody_is_asked(
    resolution: Resolution, words: str
) -> None:
    async def resolve(parameters: BaseModel, context: CallContext) -> Resolution:
        return resolution

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        raise AssertionError

    odd = Tool(
        name="odd", description="Odd.", parameters=Place, resolve=resolve, run=run, effects=effects("writes")
    )
    async with staged() as stage:
        stage.approval = port = ScriptedPort(Approve(by="ann"))
        async with stage.turn(odd) as turn:
            outcome = await turn.call("odd", {})
            assert outcome.kind == "failed"
            assert words in str(outcome)
            assert await stage.kinds() == ["requested", "settled"]
        assert port.requests == []
