"""What happens in a call, and what is written of it."""

from __future__ import annotations

import anyio
from pydantic import JsonValue

from seam.tools_def._effects import effects
from seam.tools_def._errors import CallRefusal, CapabilityUnavailable, TurnFailed
from seam.tools_def._outcome import Cancelled, Completed, Failed, Outcome, Refused, Unavailable
from seam.tools_def._records import CallSettled, CallStarted
from seam.tools_def._tools import OpenTurn
from seam.tools_def.conformance._check import CheckList, expect
from seam.tools_def.conformance._tools_subject import PATIENCE, Deed, Rules, Scene, ToolsSubject, scene

call_checks: CheckList[ToolsSubject] = CheckList([])

HARMLESS = effects()


@call_checks("the record has requested, decided, started, settled, in this order (T-40)")
async def records_are_in_order(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        seen: list[list[str]] = []

        async def look(text: str) -> None:
            seen.append(await stage.kinds(turn, "c1"))

        turn = await stage.open(Deed(effects=HARMLESS, before=look))
        outcome = await turn.call("deed", {"text": "a"}, call="c1")
        expect(outcome.kind == "completed", f"a harmless call ended as {outcome.kind}")
        kinds = await stage.kinds(turn, "c1")
        expect(kinds == ["requested", "decided", "started", "settled"], f"the record holds {kinds}")
        expect(seen == [["requested", "decided", "started"]], f"when the tool ran, the record held {seen}")
        settled = (await stage.records(turn, "c1"))[-1]
        expect(isinstance(settled, CallSettled) and settled.ran, "the settlement does not say that it ran")
        await turn.close()


@call_checks("an unknown tool is refused, and recorded as a call (T-42)")
async def unknown_tools_are_recorded(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        turn = await stage.open(Deed())
        outcome = await turn.call("DEED", {}, call="c1")
        expect(isinstance(outcome, Refused), f"an unknown name ended as {outcome.kind}")
        kinds = await stage.kinds(turn, "c1")
        expect(kinds[:1] == ["requested"] and kinds[-1:] == ["settled"], f"the record holds {kinds}")
        await turn.close()


@call_checks("arguments are validated before anything else looks at them (T-23)")
async def arguments_are_validated_first(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        stage.rules = Rules()
        deed = Deed(effects=HARMLESS)
        turn = await stage.open(deed)
        unfit: list[JsonValue] = [{"text": ["no"]}, {"unknown": 1}, [], None, {"text": "x" * 100_000_000}]
        for arguments in unfit:
            outcome = await turn.call("deed", arguments)
            expect(isinstance(outcome, Refused), f"{str(arguments)[:30]} ended as {outcome.kind}")
        expect(stage.rules.asked == 0 and not deed.done, "policy or tool saw arguments that do not fit")
        await turn.close()


@call_checks("a call that is cancelled before it starts runs neither policy nor tool, and settles (T-41)")
async def cancelled_before_it_starts(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        stage.rules = Rules()
        deed = Deed(effects=HARMLESS)
        turn = await stage.open(deed)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await turn.call("deed", {}, call="c1")
        expect(scope.cancelled_caught, "the caller's cancellation was swallowed")
        expect(stage.rules.asked == 0 and not deed.done, "policy or tool ran")
        expect((await stage.kinds(turn, "c1"))[-1:] == ["settled"], "the call was not settled")
        await turn.close()


@call_checks("cancelling the caller cancels the tool, settles the call, and goes on (T-44)")
async def cancellation_settles_and_goes_on(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        running = anyio.Event()

        async def hang(text: str) -> None:
            running.set()
            await anyio.sleep_forever()

        turn = await stage.open(Deed(effects=HARMLESS, before=hang))
        returned: list[Outcome] = []

        async def call() -> None:
            returned.append(await turn.call("deed", {}, call="c1"))

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as callers:
                callers.start_soon(call)
                await running.wait()
                callers.cancel_scope.cancel()
        expect(not returned, "the caller's cancellation was swallowed")
        settled = (await stage.records(turn, "c1"))[-1]
        expect(
            isinstance(settled, CallSettled) and isinstance(settled.outcome, Cancelled),
            f"the call was recorded as {settled!r}",
        )
        await turn.close()


@call_checks(
    "a deadline ends a tool, also one that ignores its cancellation, and no turn waits for that one (T-44, T-45)"
)
async def deadlines_hold(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        let_go = anyio.Event()

        async def stubborn(text: str) -> None:
            with anyio.CancelScope(shield=text == "stubborn"):
                await let_go.wait()

        turn = await stage.open(Deed(effects=HARMLESS, before=stubborn, deadline=0.1))
        try:
            with anyio.fail_after(PATIENCE):
                for text in ("mild", "stubborn"):
                    await _past_its_deadline(stage, turn, text)
                await turn.close()
        finally:
            let_go.set()  # else no runtime could end
        expect(stage.lease.released, "the turn did not give its generation back")


async def _past_its_deadline(stage: Scene, turn: OpenTurn, text: str) -> None:
    outcome = await turn.call("deed", {"text": text}, call=text)
    ended = isinstance(outcome, Cancelled) and outcome.deadline
    expect(ended, f"past its deadline a {text} tool ended as {outcome!r}")
    records = await stage.records(turn, text)
    expect(records[-1].kind == "settled", f"the {text} call was not settled")
    stated = [record.deadline for record in records if isinstance(record, CallStarted)]
    expect(stated == [0.1], f"the tool's deadline is 0.1 s, and its start states {stated}")


@call_checks("if the record cannot be written, the tool does not run, and the turn fails (T-43)")
async def nothing_runs_unrecorded(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        deed = Deed(effects=HARMLESS)
        turn = await stage.open(deed)
        stage.journal.fails_on = "started"
        expect(await _fails(turn), "a call whose start cannot be recorded did not fail its turn")
        expect(not deed.done, "the tool ran unrecorded")
        stage.journal.fails_on = None
        expect(await _fails(turn), "a failed turn took another call")
        expect(not deed.done, "the tool ran in a failed turn")
        await turn.close()


async def _fails(turn: OpenTurn) -> bool:
    try:
        await turn.call("deed", {})
    except TurnFailed as failed:
        return failed.code == "TURN_FAILED"
    return False


@call_checks("refusals, unavailability and typed outcomes survive from deep inside a tool (T-46, T-47)")
async def typed_outcomes_survive(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        deep = OSError("connection failed")
        deep.__cause__ = CallRefusal("egress", "that host is not on the list")
        results: list[tuple[object, Outcome]] = [
            (deep, Refused(policy="egress", reason="that host is not on the list")),
            (CapabilityUnavailable("gone", reason="gone"), Unavailable(reason="gone")),
            (
                Failed(code="THEIRS", message="m", retryable="yes"),
                Failed(code="THEIRS", message="m", retryable="yes"),
            ),
            (Completed(value={"a": 1}, success=False), Completed(value={"a": 1}, success=False)),
        ]
        for given, expected in results:
            stage.lease = type(stage.lease)()
            turn = await stage.open(Deed(effects=HARMLESS, result=given))
            outcome = await turn.call("deed", {})
            expect(outcome == expected, f"{given!r} became {outcome!r}")
            await turn.close()


@call_checks("a result that is not JSON is a failure that names the field; a result cannot be changed (T-48)")
async def results_are_frozen_json(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        turn = await stage.open(Deed(effects=HARMLESS, result={"field": {1, 2}}))
        outcome = await turn.call("deed", {})
        expect(isinstance(outcome, Failed) and "field" in outcome.message, f"a set became {outcome!r}")
        await turn.close()
        stage.lease = type(stage.lease)()
        turn = await stage.open(Deed(effects=HARMLESS, result={"list": [1]}))
        outcome = await turn.call("deed", {})
        expect(outcome.value == {"list": [1]}, f"the value became {outcome.value!r}")
        try:
            outcome.value["list"] = "changed"  # pyright: ignore[reportIndexIssue, reportOptionalSubscript, reportCallIssue, reportArgumentType]
        except TypeError:
            pass
        else:
            expect(False, "a settled value can be changed")
        await turn.close()


@call_checks("what started says what allowed it, and the digest that was decided")
async def starts_say_what_allowed_them(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        turn = await stage.open(Deed(effects=HARMLESS))
        await turn.call("deed", {}, call="c1")
        decided, started = (await stage.records(turn, "c1"))[1:3]
        expect(isinstance(started, CallStarted), f"the third record is {started.kind}")
        expect(bool(getattr(started, "allowed_by", "")), "the start does not say what allowed it")
        expect(
            getattr(started, "digest", 1) == getattr(decided, "digest", 2),
            "decision and start are not of one digest",
        )
        await turn.close()
