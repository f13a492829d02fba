"""Code that will not end, hooks around a call, a journal that cannot be written."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable

import anyio
import pytest
from pydantic import BaseModel, JsonValue
from tools_runtime_fakes import ScriptedPermissions, ScriptedPort, Stage, registered, staged
from tools_runtime_services import Provider, schema

from seam.tools_def import (
    Approve,
    CallContext,
    CallInfo,
    CallSettled,
    Cancelled,
    Completed,
    Decision,
    Failed,
    Noted,
    Outcome,
    Refused,
    Resolution,
    ResolvedCall,
    SettledCall,
    Text,
    Tool,
    ToolResult,
    TurnEnded,
    TurnFailed,
    effects,
    tool,
)

pytestmark = pytest.mark.anyio

Next = Callable[[CallInfo], Awaitable[Outcome]]


class Nothing(BaseModel):
    """No parameters."""


class Stubborn:
    """A tool that ignores its cancellation until it is let go."""

    def __init__(self, deadline: float | None = None, result: ToolResult = "done after all") -> None:
        self.let_go = anyio.Event()
        self.running = anyio.Event()
        self.ended = anyio.Event()
        self.contexts: list[CallContext] = []

        async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
            self.contexts.append(context)
            context.keep({"so": "far"}, [Text(text="half")])
            self.running.set()
            with anyio.CancelScope(shield=True):
                await self.let_go.wait()
            self.ended.set()
            return result

        self.tool = Tool(
            name="stubborn",
            description="D.",
            parameters=Nothing,
            run=run,
            effects=effects(),
            deadline=deadline,
        )


async def last(stage: Stage, call: str = "call-1") -> CallSettled:
    record = (await stage.records(call))[-1]
    assert isinstance(record, CallSettled)
    return record


async def aftermath(stage: Stage) -> list[Noted]:
    """What the runtime noted behind the calls."""
    await anyio.wait_all_tasks_blocked()
    found: list[Noted] = []
    for sequence in stage.journal._threads:  # pyright: ignore[reportPrivateUsage]
        if sequence.startswith("runtime:"):
            found += [e.record for e in await stage.journal.read(sequence) if isinstance(e.record, Noted)]
    return found


async def test_t_44_a_tool_that_ignores_cancellation_is_waited_for_and_what_it_did_is_recorded() -> None:
    stubborn = Stubborn()
    async with staged() as stage, stage.turn(stubborn.tool) as turn:
        returned: list[Outcome] = []

        async def call() -> None:
            returned.append(await turn.call("stubborn", {}))

        async with anyio.create_task_group() as callers:
            callers.start_soon(call)
            await stubborn.running.wait()
            callers.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await anyio.wait_all_tasks_blocked()
                assert await stage.kinds() == ["requested", "decided", "started"]  # still waited for
                stubborn.let_go.set()
        assert returned == []  # the caller's cancellation goes on
        record = await last(stage)
        assert record.outcome == Cancelled(
            reason="the caller was cancelled", value="done after all", content=(Text(text="done after all"),)
        )
        assert record.detail == "the tool went on after it was told to stop, and ended: completed"


async def test_t_44_past_its_deadline_the_outcome_is_cancelled_whatever_it_returns() -> None:
    stubborn = Stubborn(deadline=0.05)
    async with staged() as stage, stage.turn(stubborn.tool) as turn:
        outcomes: list[Outcome] = []

        async def call() -> None:
            outcomes.append(await turn.call("stubborn", {}))

        async with anyio.create_task_group() as callers:
            callers.start_soon(call)
            await stubborn.running.wait()
            await anyio.sleep(0.2)
            assert outcomes == []
            stubborn.let_go.set()
        (outcome,) = outcomes
        assert isinstance(outcome, Cancelled)
        assert (outcome.deadline, outcome.abandoned, outcome.value) == (True, False, "done after all")


async def test_t_44_one_that_never_ends_is_abandoned_recorded_so_and_its_turn_closes_without_it() -> None:
    stubborn = Stubborn(deadline=0.05)
    async with staged(grace=0.05) as stage:
        turn = await stage.open(await stage.project(stubborn.tool))
        outcome = await turn.call("stubborn", {})
        assert outcome == Cancelled(
            reason="its deadline of 0.05 s was over",
            deadline=True,
            abandoned=True,
            value={"so": "far"},
            content=(Text(text="half"),),
        )
        record = await last(stage)
        assert record.ran
        assert record.detail == "its code in `run` does not end, although it was told to; it was left behind"
        await turn.close()
        assert stage.lease.released == 1
        assert not stubborn.ended.is_set()
        with pytest.raises(TurnEnded, match="its context cannot be used any more"):
            stubborn.contexts[0].progress("I am still here")
        stubborn.let_go.set()
        await stubborn.ended.wait()
        (note,) = await aftermath(stage)
        assert (note.topic, note.call, note.data) == ("call.ended_late", "call-1", {"turn": "t1"})
        assert len([r for r in await stage.records("call-1") if isinstance(r, CallSettled)]) == 1


async def test_t_44_code_in_a_thread_is_left_behind_too() -> None:
    let_go = threading.Event()

    @tool(effects=effects(), deadline=0.05)
    async def compute() -> str:
        """Computes in a thread that cannot be cancelled."""
        await anyio.to_thread.run_sync(let_go.wait)
        return "computed"

    async with staged(grace=0.05) as stage:
        async with stage.turn(compute) as turn:
            outcome = await turn.call("compute", {})
            assert isinstance(outcome, Cancelled)
            assert outcome.abandoned
        let_go.set()


async def test_t_44_a_closing_turn_waits_for_what_runs() -> None:
    nothing: JsonValue = {}
    stubborn = Stubborn()
    async with staged() as stage:
        turn = await stage.open(await stage.project(stubborn.tool))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(turn.call, "stubborn", nothing)
            await stubborn.running.wait()
            tasks.start_soon(turn.close, "drained")
            await anyio.wait_all_tasks_blocked()
            assert stage.lease.released == 0
            assert await stage.kinds() == ["requested", "decided", "started"]
            stubborn.let_go.set()
        assert [r.kind for r in await stage.records()][-1] == "turn_closed"
        assert (await last(stage)).outcome.kind == "cancelled"


def hooked(step: str, ended: anyio.Event, let_go: anyio.Event) -> Callable[[Stage], Tool]:
    async def block() -> None:
        with anyio.CancelScope(shield=True):
            await let_go.wait()
        ended.set()

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        if step != "after":
            raise AssertionError("the tool must not run")
        return "ran"

    async def resolve(parameters: BaseModel, context: CallContext) -> Resolution:
        if step == "resolve":
            await block()
        return Resolution()

    async def before(info: CallInfo) -> Decision | None:
        if step == "policy":
            await block()
        return None

    async def after(info: CallInfo, proceed: Next) -> Outcome:
        await block()
        return await proceed(info)

    def install(stage: Stage) -> Tool:
        stage.emitter.before.append(("gate", before))
        if step == "after":
            stage.emitter.afters.append(after)
        if step == "around":
            stage.emitter.arounds.append(after)
        return Tool(
            name="t",
            description="D.",
            parameters=Nothing,
            run=run,
            resolve=resolve,
            effects=effects(),
            deadline=0.05,
        )

    return install


@pytest.mark.parametrize(
    ("step", "kind", "ran"),
    [
        ("policy", "refused", False),
        ("resolve", "failed", False),
        ("around", "cancelled", False),
        ("after", "completed", True),
    ],
)
async def test_pi_002_foreign_code_that_ignores_its_cancellation_holds_nobody_up(
    step: str, kind: str, ran: bool
) -> None:
    ended, let_go = anyio.Event(), anyio.Event()
    async with staged(grace=0.05, hook_timeout=0.1, resolve_timeout=0.1) as stage:
        async with stage.turn(hooked(step, ended, let_go)(stage)) as turn:
            outcome = await turn.call("t", {})
            assert outcome.kind == kind
            record = await last(stage)
            assert (record.outcome, record.ran) == (outcome, ran)
            if isinstance(outcome, Refused):
                assert outcome == Refused(policy="policy", reason="the policy did not answer within 0.1 s")
            if isinstance(outcome, Failed):
                assert outcome.code == "RESOLVE_TIMEOUT"
        let_go.set()
        await ended.wait()
        assert [note.topic for note in await aftermath(stage)] == ["call.ended_late"]
        assert len([r for r in await stage.records("call-1") if isinstance(r, CallSettled)]) == 1


async def test_pi_002_a_policy_that_only_hangs_is_cancelled_and_denies_by_default() -> None:
    async def hang(info: CallInfo) -> Decision | None:
        await anyio.sleep_forever()

    @tool(effects=effects())
    async def touch() -> None:
        """Must not run."""
        raise AssertionError

    async with staged(hook_timeout=0.05) as stage:
        stage.emitter.before.append(("gate", hang))
        async with stage.turn(touch) as turn:
            assert await turn.call("touch", {}) == Refused(
                policy="policy", reason="the policy did not answer within 0.05 s"
            )
            assert await stage.kinds() == ["requested", "decided", "settled"]


@tool(effects=effects())
async def count() -> int:
    """Counts."""
    return 1


async def test_t_50_around_wraps_the_run_and_may_try_again() -> None:
    tries: list[int] = []

    @tool(effects=effects())
    async def flaky() -> str:
        """Works the third time."""
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("away")
        return "there"

    async def retry(info: CallInfo, proceed: Next) -> Outcome:
        while True:
            outcome = await proceed(info)
            if not isinstance(outcome, Failed):
                return outcome

    async with staged() as stage:
        stage.emitter.arounds.append(retry)
        async with stage.turn(flaky) as turn:
            assert (await turn.call("flaky", {})).value == "there"
            assert await stage.kinds() == ["requested", "decided", "started", "settled"]
    assert len(tries) == 3


async def test_t_50_after_replaces_content_and_cannot_turn_the_outcome_into_another() -> None:
    async def add(info: CallInfo, proceed: Next) -> Outcome:
        outcome = await proceed(info)
        return outcome.model_copy(update={"content": (*outcome.content, Text(text="(added)"))})

    async def flip(info: CallInfo, proceed: Next) -> Outcome:
        await proceed(info)
        return Completed(value="all is well")

    @tool(effects=effects())
    async def broken() -> None:
        """Raises."""
        raise ValueError("broken")

    async with staged() as stage:
        stage.emitter.afters.append(add)
        async with stage.turn(count, broken) as turn:
            assert (await turn.call("count", {})).content == (Text(text="1"), Text(text="(added)"))
            stage.emitter.afters.append(flip)
            outcome = await turn.call("broken", {})
            assert isinstance(outcome, Failed)
            notes = [r for r in await stage.records("call-2") if isinstance(r, Noted)]
            assert [(note.topic, note.text) for note in notes] == [
                ("hook.error", "a hook after the call turned failed into completed; it stays")
            ]


async def test_t_50_a_deny_cannot_be_undone_by_a_later_hook() -> None:
    async def no(info: CallInfo) -> Decision | None:
        return Decision(verdict="deny", reason="no")

    async def yes(info: CallInfo) -> Decision | None:
        return Decision(verdict="allow", reason="yes")

    async def never(info: CallInfo, proceed: Next) -> Outcome:
        raise AssertionError("hooks around and after are for calls that run")

    async with staged() as stage:
        stage.emitter.before += [("first", no), ("second", yes)]
        stage.emitter.arounds.append(never)
        stage.emitter.afters.append(never)
        stage.permissions = ScriptedPermissions(Decision(verdict="allow", reason="fine"))
        async with stage.turn(count) as turn:
            assert await turn.call("count", {}) == Refused(policy="hook first", reason="no")


async def test_t_50_a_hook_that_raises_is_contained_according_to_its_kind_and_recorded() -> None:
    async def broken(info: CallInfo, proceed: Next) -> Outcome:
        raise RuntimeError("broken hook")

    async def broken_observer(told: SettledCall) -> None:
        raise RuntimeError("broken observer")

    async with staged() as stage:
        async with stage.turn(count) as turn:
            stage.emitter.arounds.append(broken)
            outcome = await turn.call("count", {})
            assert isinstance(outcome, Failed)
            assert (outcome.code, "broken hook" in outcome.message) == ("HOOK_FAILED", True)
            assert not (await last(stage)).ran
            stage.emitter.arounds.clear()
            stage.emitter.afters.append(broken)
            assert (await turn.call("count", {})).value == 1
            notes = [r for r in await stage.records("call-2") if isinstance(r, Noted)]
            assert [note.topic for note in notes] == ["hook.error"]
            stage.emitter.afters.clear()
            stage.emitter.observers.append(broken_observer)
            assert (await turn.call("count", {})).value == 1
        (note,) = await aftermath(stage)
        assert (note.topic, "broken observer" in note.text) == ("hook.error", True)


async def test_t_31_a_hook_cannot_run_another_call_than_the_one_that_was_allowed() -> None:
    async def swap(info: CallInfo, proceed: Next) -> Outcome:
        other = info.resolved.model_copy(update={"arguments": {"path": "/etc/passwd"}})
        return await proceed(info.model_copy(update={"resolved": other}))

    async def nonsense(info: CallInfo, proceed: Next) -> Outcome:
        return "fine"  # pyright: ignore[reportReturnType]

    async with staged() as stage:
        stage.emitter.arounds.append(swap)
        async with stage.turn(count) as turn:
            outcome = await turn.call("count", {})
            assert isinstance(outcome, Failed)
            assert outcome.code == "HOOK_CHANGED_CALL"
            stage.emitter.arounds[:] = [nonsense]
            outcome = await turn.call("count", {})
            assert isinstance(outcome, Failed)
            assert "answered with a str" in outcome.message


@pytest.mark.parametrize("how", ["raise", "hang"])
@pytest.mark.parametrize("breaks", ["requested", "approval_asked", "started", "settled"])
async def test_t_43_if_the_journal_cannot_be_written_the_turn_fails(breaks: str, how: str) -> None:
    ran: list[str] = []

    @tool(effects=effects("writes"))
    async def write() -> str:
        """Writes."""
        ran.append("tool")
        return "written"

    async with staged(journal_timeout=0.1) as stage:
        stage.approval = port = ScriptedPort(Approve(by="ann"))
        turn = await stage.open(await stage.project(write))
        stage.journal.breaks = breaks
        stage.journal.how = how  # pyright: ignore[reportAttributeAccessIssue] - one of the two
        with pytest.raises(TurnFailed, match="nothing runs unrecorded") as failed:
            await turn.call("write", {})
        assert failed.value.code == "TURN_FAILED"
        assert ran == (["tool"] if breaks == "settled" else [])
        if breaks in ("requested", "approval_asked"):
            assert port.requests == []
        # no loop goes on with it: every further call fails in the same way, and starts nothing
        for _ in range(2):
            with pytest.raises(TurnFailed):
                await turn.call("write", {})
        stage.journal.breaks = None  # the journal is there again: the record is closed as failed
        await turn.close()
        closed = (await stage.records())[-1]
        assert (closed.kind, getattr(closed, "how", "")) == ("turn_closed", "failed")
        assert stage.lease.released == 1


@pytest.mark.parametrize("ending", ["cancelled", "overdue"])
async def test_t_43_a_call_that_was_told_to_stop_and_cannot_be_settled_fails_the_turn_in_time(
    ending: str,
) -> None:
    running = anyio.Event()

    @tool(effects=effects(), deadline=0.05 if ending == "overdue" else None)
    async def wait() -> None:
        """Waits."""
        running.set()
        await anyio.sleep_forever()

    failures: list[str] = []
    async with staged(journal_timeout=0.1, grace=0.1) as stage:
        turn = await stage.open(await stage.project(wait))
        stage.journal.breaks, stage.journal.how = "settled", "hang"

        async def call() -> None:
            try:
                await turn.call("wait", {})
            except TurnFailed as failed:
                failures.append(failed.code)

        with anyio.fail_after(10):
            async with anyio.create_task_group() as callers:
                callers.start_soon(call)
                await running.wait()
                if ending == "cancelled":
                    callers.cancel_scope.cancel()
        assert failures == ["TURN_FAILED"]
        stage.journal.breaks = None
        await turn.close()
        assert [r.kind for r in await stage.records()][-2:] == ["started", "turn_closed"]


async def test_t_43_other_calls_of_the_turn_are_stopped() -> None:
    stubborn = Stubborn()
    stubborn.let_go.set()

    @tool(effects=effects(), concurrency="parallel")
    async def wait() -> None:
        """Waits."""
        await anyio.sleep_forever()

    async with staged() as stage:
        turn = await stage.open(await stage.project(wait, count))
        failures: list[str] = []

        async def call(name: str) -> None:
            try:
                await turn.call(name, {})
            except TurnFailed as failed:
                failures.append(f"{name}: {failed.code}")

        async with anyio.create_task_group() as callers:
            callers.start_soon(call, "wait")
            await anyio.wait_all_tasks_blocked()
            stage.journal.breaks = "settled"
            callers.start_soon(call, "count")
        assert sorted(failures) == ["count: TURN_FAILED", "wait: TURN_FAILED"]
        stage.journal.breaks = "turn_closed"
        with pytest.raises(TurnFailed):
            await turn.close()
        assert stage.lease.released == 1


async def test_a_stopped_runtime_ends_its_calls() -> None:
    @tool(effects=effects())
    async def wait() -> None:
        """Waits."""
        await anyio.sleep_forever()

    outcomes: list[Outcome] = []
    async with anyio.create_task_group() as tasks:
        async with staged() as stage:
            turn = await stage.open(await stage.project(wait))

            async def call() -> None:
                outcomes.append(await turn.call("wait", {}))

            tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
        await anyio.wait_all_tasks_blocked()
    assert [outcome.kind for outcome in outcomes] == ["cancelled"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # trio gives nobody the means
async def test_a_tool_that_cancels_its_own_task_is_a_failure_and_harms_no_neighbour() -> None:
    @tool(effects=effects())
    async def odd() -> None:
        """Raises the loop's own cancellation."""
        raise anyio.get_cancelled_exc_class()

    async with staged() as stage, stage.turn(odd, count) as turn:
        outcome = await turn.call("odd", {})
        assert isinstance(outcome, Failed)
        assert outcome.code == "TOOL_CANCELLED_ITSELF"
        assert (await turn.call("count", {})).value == 1


async def test_a_service_that_is_slow_to_say_whether_it_is_available_is_bounded() -> None:
    class Slow(Provider):
        async def available(self) -> str | None:
            await anyio.sleep_forever()

    service = Slow("slow", schema("fetch", effects=effects()))
    async with staged(hook_timeout=0.05) as stage, stage.turn(services=[registered(service)]) as turn:
        outcome = await turn.call("fetch", {})
        assert outcome.kind in ("unavailable", "refused")
        assert service.executed == []
