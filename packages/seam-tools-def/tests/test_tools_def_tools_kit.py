"""The kit for `Tools` catches liars: each broken runtime fails the check that is meant for it."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import cast

import anyio
import pytest
from pydantic import JsonValue

from seam.tools_def import (
    Agent,
    ApprovalAnswer,
    ApprovalPort,
    ApprovalRequest,
    Approve,
    CallItem,
    CallStarted,
    Catalogue,
    Descriptor,
    Edit,
    Emitter,
    Entry,
    Failed,
    GrantBook,
    Journal,
    Lease,
    OpenTurn,
    Outcome,
    ProgressSink,
    ProjectionRequest,
    Record,
    Refused,
    ResolvedCall,
    SkillDocument,
    SkillEntry,
    Tools,
    ToolService,
    ToolSource,
    TurnEnded,
    TurnFailed,
    TurnOpening,
    effects,
    thawed_json,
)
from seam.tools_def.conformance import (
    TOOLS_CHECKS,
    ConformanceFailure,
    ToolsSubject,
    check_named,
    examine,
    leaves,
)
from seam.tools_def.conformance._tools_subject import ListJournal
from seam.tools_runtime import RuntimeConfig, open_runtime

pytestmark = pytest.mark.anyio


class LyingTurn(OpenTurn):
    """A turn that hands everything on; liars change one thing."""

    def __init__(self, turn: OpenTurn, opening: TurnOpening) -> None:
        self._turn = turn
        self.opening = opening

    @property
    def id(self) -> str:
        return self._turn.id

    @property
    def generation(self) -> int:
        return self._turn.generation

    @property
    def agent(self) -> Agent:
        return self._turn.agent

    @property
    def tools(self) -> tuple[Descriptor, ...]:
        return self._turn.tools

    @property
    def skills(self) -> tuple[SkillEntry, ...]:
        return self._turn.skills

    async def call(
        self,
        tool: str,
        arguments: JsonValue,
        *,
        call: str | None = None,
        progress: ProgressSink | None = None,
    ) -> Outcome:
        return await self._turn.call(tool, arguments, call=call, progress=progress)

    async def call_many(
        self, calls: Sequence[CallItem], *, progress: ProgressSink | None = None
    ) -> tuple[Outcome, ...]:
        return await self._turn.call_many(calls, progress=progress)

    async def describe_skill(self, skill: str) -> SkillDocument:
        return await self._turn.describe_skill(skill)

    def instructions(self, *, limit: int | None = None) -> str:
        return self._turn.instructions(limit=limit)

    async def fail(self, reason: str) -> None:
        await self._turn.fail(reason)

    async def close(self, how: str = "ended", reason: str = "") -> None:
        await self._turn.close(how, reason)


class Liar(Tools):
    """A runtime that hands everything on."""

    turn: type[LyingTurn] = LyingTurn

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    async def project(self, request: ProjectionRequest) -> Catalogue:
        return await self.tools.project(self.offers(request))

    async def open(self, opening: TurnOpening) -> OpenTurn:
        changed = self.opening(opening)
        return self.turn(await self.tools.open(changed), opening)

    def offers(self, request: ProjectionRequest) -> ProjectionRequest:
        return request

    def opening(self, opening: TurnOpening) -> TurnOpening:
        return opening


# -- liars about the record


class WrappedJournal(ListJournal):
    """Writes into the real one; liars drop or change records."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self.journal = journal

    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        return await self.journal.append(turn, *self.changed(records))

    def changed(self, records: Sequence[Record]) -> Sequence[Record]:
        return records


class WithoutStarts(WrappedJournal):
    def changed(self, records: Sequence[Record]) -> Sequence[Record]:
        return [record for record in records if record.kind != "started"]


class WithoutReasons(WrappedJournal):
    def changed(self, records: Sequence[Record]) -> Sequence[Record]:
        return [
            record.model_copy(update={"allowed_by": ""}) if isinstance(record, CallStarted) else record
            for record in records
        ]


class WithoutSettlements(WrappedJournal):
    def changed(self, records: Sequence[Record]) -> Sequence[Record]:
        return [record for record in records if record.kind != "settled"]


class TwoEnds(WrappedJournal):
    def changed(self, records: Sequence[Record]) -> Sequence[Record]:
        return [record for record in records for _ in range(2 if record.kind == "turn_closed" else 1)]


class RunsUnrecorded(WrappedJournal):
    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        with suppress(Exception):
            return await super().append(turn, *records)
        return ()


def journalled(kind: type[WrappedJournal]) -> type[Liar]:
    class Journalled(Liar):
        def opening(self, opening: TurnOpening) -> TurnOpening:
            return dataclasses.replace(opening, journal=kind(opening.journal))

    return Journalled


# -- liars about policy


class Everybody(ApprovalPort):
    """Says yes without asking anybody."""

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        return Approve(by="nobody")


class NobodyAsked(Liar):
    def opening(self, opening: TurnOpening) -> TurnOpening:
        return dataclasses.replace(opening, approval=Everybody())


class NoRules(Liar):
    def opening(self, opening: TurnOpening) -> TurnOpening:
        return dataclasses.replace(opening, permissions=None)


class DeafToHooks(Liar):
    def opening(self, opening: TurnOpening) -> TurnOpening:
        emitter = opening.emitter

        class Deaf:
            observe = staticmethod(emitter.observe)
            around = staticmethod(emitter.around)

            async def decide(self, event: object, payload: object, /) -> Sequence[object]:
                return ()

        return dataclasses.replace(opening, emitter=cast(Emitter, Deaf()))


class Repeating(ApprovalPort):
    """Asks each question twice."""

    def __init__(self, port: ApprovalPort) -> None:
        self.port = port

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        answer = await self.port.ask(request)
        with anyio.move_on_after(0.01):
            await self.port.ask(request)
        return answer


class ForgetsEdits(ApprovalPort):
    """Takes an edit for a yes."""

    def __init__(self, port: ApprovalPort) -> None:
        self.port = port

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        answer = await self.port.ask(request)
        return Approve(by=answer.by) if isinstance(answer, Edit) else answer


def ported(kind: Callable[[ApprovalPort], ApprovalPort]) -> type[Liar]:
    class Ported(Liar):
        def opening(self, opening: TurnOpening) -> TurnOpening:
            approval = None if opening.approval is None else kind(opening.approval)
            return dataclasses.replace(opening, approval=approval)

    return Ported


class LooseGrants(GrantBook):
    """Takes one yes for all of a tool."""

    def __init__(self, grants: GrantBook) -> None:
        super().__init__()
        self.given = grants

    def find(self, resolved: ResolvedCall, *rest: object, **named: object):  # pyright: ignore[reportIncompatibleMethodOverride, reportUnknownParameterType, reportMissingTypeArgument]
        return next((grant for grant in self.list() if grant.tool == resolved.tool), None)


class OneYesForAll(Liar):
    def opening(self, opening: TurnOpening) -> TurnOpening:
        return dataclasses.replace(opening, grants=LooseGrants(cast(GrantBook, opening.grants)))


class AlwaysLive(Lease):
    """Never retired."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease

    @property
    def generation(self) -> int:
        return self.lease.generation

    @property
    def live(self) -> bool:
        return True

    def check(self) -> None:
        return

    async def release(self) -> None:
        await self.lease.release()


class BlindToRetirement(Liar):
    def opening(self, opening: TurnOpening) -> TurnOpening:
        return dataclasses.replace(opening, lease=AlwaysLive(opening.lease))


class KeepsTheLease(Liar):
    def opening(self, opening: TurnOpening) -> TurnOpening:
        class Kept(AlwaysLive):
            async def release(self) -> None:
                return

        return dataclasses.replace(opening, lease=Kept(opening.lease))


class AllowsAlways(Liar):
    def offers(self, request: ProjectionRequest) -> ProjectionRequest:
        tools = tuple(
            ToolSource(
                tool=dataclasses.replace(source.tool, requires_approval="on-risk"),
                source=source.source,
                owner=source.owner,
            )
            for source in request.tools
        )
        return dataclasses.replace(request, tools=tools)


class Believes(Liar):
    """Trusts every stranger."""

    def offers(self, request: ProjectionRequest) -> ProjectionRequest:
        for item in request.services:
            if not getattr(item.service, "trusted", True):
                item.service.trusted = True  # pyright: ignore[reportAttributeAccessIssue]
        return request


class LastClaimWins(Liar):
    """Drops what clashes instead of rejecting the candidate."""

    async def project(self, request: ProjectionRequest) -> Catalogue:
        try:
            return await self.tools.project(request)
        except Exception:
            return await self.tools.project(dataclasses.replace(request, services=()))


# -- liars about calls


class Swallows(LyingTurn):
    """Swallows the caller's cancellation."""

    async def call(self, *arguments: object, **named: object) -> Outcome:
        try:
            return await self._turn.call(*arguments, **named)  # pyright: ignore[reportArgumentType]
        except anyio.get_cancelled_exc_class():
            return Failed(code="CANCELLED", message="cancelled")


class Flattens(LyingTurn):
    """Everything that is not completed has failed."""

    async def call(self, *arguments: object, **named: object) -> Outcome:
        outcome = await self._turn.call(*arguments, **named)  # pyright: ignore[reportArgumentType]
        return Failed(code="FAILED", message="failed") if isinstance(outcome, Refused) else outcome


class Thaws(LyingTurn):
    async def call(self, *arguments: object, **named: object) -> Outcome:
        outcome = await self._turn.call(*arguments, **named)  # pyright: ignore[reportArgumentType]
        return outcome.model_copy(update={"value": thawed_json(outcome.value)})


class CatchesFailure(LyingTurn):
    """Takes the turn's failure for a tool's."""

    async def call(self, *arguments: object, **named: object) -> Outcome:
        try:
            return await self._turn.call(*arguments, **named)  # pyright: ignore[reportArgumentType]
        except TurnFailed as failed:
            return Failed(code=failed.code, message=failed.message)


class Undead(LyingTurn):
    async def call(self, *arguments: object, **named: object) -> Outcome:
        try:
            return await self._turn.call(*arguments, **named)  # pyright: ignore[reportArgumentType]
        except TurnEnded:
            return Refused(policy="turn", reason="ended")


class InAnyOrder(LyingTurn):
    async def call_many(
        self, calls: Sequence[CallItem], *, progress: ProgressSink | None = None
    ) -> tuple[Outcome, ...]:
        return tuple(reversed(await self._turn.call_many(calls, progress=progress)))


class AllTogether(LyingTurn):
    async def call_many(
        self, calls: Sequence[CallItem], *, progress: ProgressSink | None = None
    ) -> tuple[Outcome, ...]:
        outcomes: dict[int, Outcome] = {}

        async def one(place: int) -> None:
            outcomes[place] = await self._turn.call(calls[place].tool, calls[place].arguments)

        async with anyio.create_task_group() as tasks:
            for place in range(len(calls)):
                tasks.start_soon(one, place)
        return tuple(outcomes[place] for place in range(len(calls)))


class LastEndWins(LyingTurn):
    async def fail(self, reason: str) -> None:
        return


class LeavesCallsRunning(LyingTurn):
    async def close(self, how: str = "ended", reason: str = "") -> None:
        await self.opening.lease.release()


def turned(kind: type[LyingTurn]) -> type[Liar]:
    class Turned(Liar):
        turn = kind

    return Turned


class AsksPolicyFirst(LyingTurn):
    """Lets policy look at arguments before they are validated."""

    async def call(
        self,
        tool: str,
        arguments: JsonValue,
        *,
        call: str | None = None,
        progress: ProgressSink | None = None,
    ) -> Outcome:
        if self.opening.permissions is not None:
            early = ResolvedCall(
                tool=tool, descriptor="", arguments=None, effects=effects(), deadline=1, summary=""
            )
            await self.opening.permissions.decide(early, self.opening.agent, self.opening.access)
        return await self._turn.call(tool, arguments, call=call, progress=progress)


class Unhurried(Liar):
    """Forgets the deadlines of tools."""

    def offers(self, request: ProjectionRequest) -> ProjectionRequest:
        tools = tuple(
            ToolSource(
                tool=dataclasses.replace(source.tool, deadline=None), source=source.source, owner=source.owner
            )
            for source in request.tools
        )
        return dataclasses.replace(request, tools=tools)


class TakesReleasedLeases(Liar):
    def opening(self, opening: TurnOpening) -> TurnOpening:
        return dataclasses.replace(opening, lease=AlwaysLive(opening.lease))


class Rereads(Liar):
    async def open(self, opening: TurnOpening) -> OpenTurn:
        for service in self.services:
            await service.schema("global")
        return await super().open(opening)

    def offers(self, request: ProjectionRequest) -> ProjectionRequest:
        self.services = [item.service for item in request.services if isinstance(item.service, ToolService)]
        return request


LIARS: dict[str, type[Liar]] = {
    "records_are_in_order": journalled(WithoutStarts),
    "unknown_tools_are_recorded": journalled(WithoutSettlements),
    "arguments_are_validated_first": turned(AsksPolicyFirst),
    "cancelled_before_it_starts": turned(AsksPolicyFirst),
    "cancellation_settles_and_goes_on": turned(Swallows),
    "deadlines_hold": Unhurried,
    "nothing_runs_unrecorded": journalled(RunsUnrecorded),
    "typed_outcomes_survive": turned(Flattens),
    "results_are_frozen_json": turned(Thaws),
    "starts_say_what_allowed_them": journalled(WithoutReasons),
    "denies_come_before_questions": NoRules,
    "one_question_with_all_reasons": ported(Repeating),
    "unattended_is_refused": NobodyAsked,
    "always_is_always": AllowsAlways,
    "broken_policies_refuse": NoRules,
    "denies_stay": DeafToHooks,
    "consent_is_for_a_digest": OneYesForAll,
    "once_is_once": NobodyAsked,
    "edits_run_what_was_edited": ported(ForgetsEdits),
    "the_generation_is_checked_again": BlindToRetirement,
    "late_answers_start_nothing": NobodyAsked,
    "strangers_are_asked_about": Believes,
    "ended_turns_refuse": turned(Undead),
    "one_terminal_record": turned(LastEndWins),
    "closing_settles_what_runs": turned(LeavesCallsRunning),
    "batches_keep_the_order": turned(InAnyOrder),
    "clashes_reject": LastClaimWins,
    "illegal_offers_reject": LastClaimWins,
    "schemas_are_read_once": Rereads,
    "released_leases_are_refused": TakesReleasedLeases,
}

MORE_LIARS: list[tuple[str, type[Liar]]] = [
    ("nothing_runs_unrecorded", turned(CatchesFailure)),
    ("batches_keep_the_order", turned(AllTogether)),
    ("ended_turns_refuse", KeepsTheLease),
    ("one_terminal_record", journalled(TwoEnds)),
    ("one_question_with_all_reasons", DeafToHooks),
    ("consent_is_for_a_digest", NobodyAsked),
]


def lying(liar: type[Liar]) -> ToolsSubject:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Tools]:
        async with open_runtime(RuntimeConfig(grace=0.2, deadline=1)) as tools:
            yield liar(tools)

    return ToolsSubject(name=liar.__name__, open=opened)


def test_every_check_has_its_liar() -> None:
    assert set(LIARS) == {check.name for check in TOOLS_CHECKS}


@pytest.mark.parametrize(("name", "liar"), [*LIARS.items(), *MORE_LIARS])
async def test_a_liar_is_caught_by_the_check_that_is_meant_for_it(name: str, liar: type[Liar]) -> None:
    with anyio.move_on_after(3) as patience:
        with pytest.raises((ConformanceFailure, ExceptionGroup)) as caught:
            await check_named(TOOLS_CHECKS, name).run(lying(liar))
        assert any(isinstance(leaf, ConformanceFailure) for leaf in leaves(caught.value))
        return
    # a liar that never ends is caught by the time limit of whoever runs the kit
    assert patience.cancelled_caught


async def test_one_who_hands_everything_on_conforms_and_the_card_says_so() -> None:
    card = await examine("tools", "honest", lying(Liar), TOOLS_CHECKS)
    assert card.conforms
    assert {result.result for result in card.results} == {"kept"}
    assert card.model_dump(mode="json")["results"][0]["about"]


async def test_a_card_names_what_is_broken_and_what_is_left_out() -> None:
    card = await examine("tools", "liar", lying(NoRules), TOOLS_CHECKS[-3:] + TOOLS_CHECKS[10:11])
    assert not card.conforms
    (broken,) = [result for result in card.results if result.result == "broken"]
    assert broken.name == "denies_come_before_questions"
    assert "ConformanceFailure" in broken.finding
