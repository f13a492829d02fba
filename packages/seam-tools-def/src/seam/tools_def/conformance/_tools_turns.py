"""Turns and catalogues: names, ends, batches."""

from __future__ import annotations

from collections.abc import Awaitable

import anyio
import anyio.lowlevel
from pydantic import JsonValue

from seam.tools_def._context import CallContext
from seam.tools_def._effects import effects
from seam.tools_def._errors import LeaseInvalid, ProjectionRejected, TurnEnded
from seam.tools_def._outcome import Completed, Outcome
from seam.tools_def._records import TurnClosed
from seam.tools_def._services import ToolSchema, ToolService
from seam.tools_def._turns import CallItem
from seam.tools_def.conformance._check import CheckList, expect
from seam.tools_def.conformance._tools_subject import Deed, ToolsSubject, registered, scene

turn_checks: CheckList[ToolsSubject] = CheckList([])


class _Stating(ToolService):
    description = "states what the check wants"
    trusted = True

    def __init__(self, name: str, *tools: str, parameters: JsonValue = None) -> None:
        self.id = name
        self.reads = 0
        self.stated = [
            ToolSchema(
                name=tool,
                description="A tool.",
                parameters={"type": "object"} if parameters is None else parameters,
                effects=effects(),
            )
            for tool in tools
        ]

    async def schema(self, owner: str) -> list[ToolSchema]:
        self.reads += 1
        return self.stated

    async def execute(self, owner: str, name: str, input: JsonValue, context: CallContext) -> Outcome:  # noqa: A002
        return Completed(value=name)


@turn_checks("an ended turn refuses, and what was captured from it too; the lease is given back (T-60)")
async def ended_turns_refuse(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        deed = Deed(effects=effects())
        turn = await stage.open(deed)
        captured = turn.call
        await turn.close()
        expect(stage.lease.released, "the lease was not given back")
        try:
            await captured("deed", {})
        except TurnEnded:
            pass
        else:
            expect(False, "a call on an ended turn was taken")
        expect(not deed.done, "a tool ran on an ended turn")


@turn_checks("exactly one terminal record; the first end wins (T-62)")
async def one_terminal_record(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        turn = await stage.open(Deed())
        await turn.fail("the first")
        await turn.close("ended", "the second")
        closed = [record for record in await stage.records(turn) if isinstance(record, TurnClosed)]
        expect(
            [(record.how, record.reason) for record in closed] == [("failed", "the first")],
            f"terminal records: {closed}",
        )
        expect((await stage.records(turn))[0].kind == "turn_opened", "the first record is not turn_opened")


@turn_checks("closing a turn settles what runs in it first")
async def closing_settles_what_runs(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        running = anyio.Event()

        async def hang(text: str) -> None:
            running.set()
            await anyio.sleep_forever()

        turn = await stage.open(Deed(effects=effects(), before=hang))
        outcomes: list[Outcome] = []

        async def call() -> None:
            outcomes.append(await turn.call("deed", {}))

        async with anyio.create_task_group() as callers:
            callers.start_soon(call)
            await running.wait()
            await turn.close("drained")
        expect([outcome.kind for outcome in outcomes] == ["cancelled"], f"the call ended as {outcomes}")
        kinds = [record.kind for record in await stage.records(turn)]
        expect(kinds[-2:] == ["settled", "turn_closed"], f"the record ends with {kinds[-2:]}")


@turn_checks(
    "parallel-safe calls of a batch overlap, exclusive ones do not, answers come in the order asked (T-49)"
)
async def batches_keep_the_order(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        running: set[str] = set()
        beside: dict[str, int] = {}

        async def meet(text: str) -> None:
            running.add(text)
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
                beside[text] = max(beside.get(text, 0), len(running))
            running.discard(text)

        safe = Deed("safe", effects=effects(), concurrency="parallel", before=meet)
        alone = Deed("alone", effects=effects(), before=meet)
        turn = await stage.open(safe, alone)
        order = [("safe", "a"), ("safe", "b"), ("alone", "c"), ("safe", "d"), ("nothing", "e")]
        outcomes = await turn.call_many(
            [CallItem(tool=name, arguments={"text": text}) for name, text in order]
        )
        expect(
            [outcome.kind for outcome in outcomes] == ["completed"] * 4 + ["refused"],
            f"answers are not in the order asked: {[outcome.kind for outcome in outcomes]}",
        )
        expect(beside["a"] == 2 and beside["b"] == 2, "parallel-safe calls did not overlap")
        expect(beside["c"] == 1, "an exclusive call ran beside another")
        await turn.close()


@turn_checks(
    "a name that would be seen twice, also by case only, rejects the candidate and names both (T-08)"
)
async def clashes_reject(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        for services in (
            [registered(_Stating("one", "log")), registered(_Stating("two", "LOG"))],
            [registered(_Stating("one", "deed"))],
        ):
            text = await _rejected(stage.open(Deed(), services=services))
            expect(text is not None, "a clash of names was accepted")
            expect("one" in str(text), f"the rejection does not name the providers: {text}")


@turn_checks("illegal names and schemas that are not JSON Schema reject the candidate (T-08, T-09)")
async def illegal_offers_reject(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        broken: JsonValue = {"type": "object", "properties": {"a": {"type": "strin"}}}
        for service in (
            _Stating("bad", ""),
            _Stating("bad", "a b"),
            _Stating("bad", "x" * 65),
            _Stating("bad", "log", parameters=broken),
            _Stating("bad", "log", parameters={"type": "array"}),
        ):
            text = await _rejected(stage.open(services=[registered(service)]))
            expect(
                text is not None and "bad" in text, f"{service.stated[0]!r} was accepted, or nobody is named"
            )


async def _rejected(opening: Awaitable[object]) -> str | None:
    try:
        await opening
    except ProjectionRejected as rejected:
        return str(rejected)
    return None


@turn_checks("schemas are read once; what a provider answers later changes nothing (T-07)")
async def schemas_are_read_once(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        service = _Stating("one", "log")
        turn = await stage.open(services=[registered(service)])
        before = [descriptor.model_dump() for descriptor in turn.tools]
        service.stated = [tool.model_copy(update={"name": "other"}) for tool in service.stated]
        await turn.call("log", {})
        expect([descriptor.model_dump() for descriptor in turn.tools] == before, "the catalogue changed")
        expect(service.reads == 1, f"schemas were read {service.reads} times")
        await turn.close()


@turn_checks("a lease that was released is refused, and nothing is written (T-61)")
async def released_leases_are_refused(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        await stage.lease.release()
        try:
            await stage.open(Deed())
        except LeaseInvalid:
            pass
        else:
            expect(False, "a released lease was taken")
        expect(not stage.journal.turns_kept, "a turn that was not opened is in the record")
