"""The turn: one lease, one terminal record, batches, instructions, skills."""

from __future__ import annotations

import anyio
import pytest
from pydantic import JsonValue
from tools_runtime_fakes import ANN, DEFAULT, FakeLease, ScriptedPort, registered, staged
from tools_runtime_services import Library, Provider, schema

from seam.tools_def import (
    ApprovalAsked,
    Approve,
    CallContext,
    CallItem,
    CallRefusal,
    CallSettled,
    Cancelled,
    CapabilityUnavailable,
    DuplicateCall,
    LeaseInvalid,
    NoteSource,
    Outcome,
    SkillDocument,
    TurnClosed,
    TurnEnded,
    TurnFailed,
    TurnOpened,
    Visibility,
    effects,
    tool,
)

pytestmark = pytest.mark.anyio


@tool(effects=effects(), concurrency="parallel")
async def echo(text: str = "") -> str:
    """Echoes."""
    return text


async def test_t_60_an_ended_turn_and_what_was_captured_from_it_refuse_with_turn_ended() -> None:
    async with staged() as stage:
        turn = await stage.open(await stage.project(echo, services=[registered(Library("books", "guide"))]))
        captured = turn.call
        await turn.close("ended", "the client left")
        words = r"turn ended: 't1' was closed \(ended: the client left\)"
        with pytest.raises(TurnEnded, match=words):
            await captured("echo", {})
        with pytest.raises(TurnEnded, match=words):
            await turn.call_many([CallItem(tool="echo", arguments={})])
        with pytest.raises(TurnEnded, match=words):
            await turn.describe_skill("guide")
        with pytest.raises(TurnEnded, match=words):
            turn.instructions()
        assert [record.kind for record in await stage.records()] == ["turn_opened", "turn_closed"]


async def test_t_60_a_turn_is_immutable() -> None:
    async with staged() as stage, stage.turn(echo) as turn:
        with pytest.raises(AttributeError):
            turn.tools = ()  # pyright: ignore[reportAttributeAccessIssue]
        with pytest.raises(AttributeError):
            turn.extra = 1  # pyright: ignore[reportAttributeAccessIssue]
        assert isinstance(turn.tools, tuple)


async def test_t_60_a_context_captured_from_a_call_is_dead_behind_it() -> None:
    captured: list[CallContext] = []

    @tool(effects=effects())
    async def capture(context: CallContext) -> None:
        """Keeps its context."""
        captured.append(context)

    async with staged() as stage, stage.turn(capture) as turn:
        await turn.call("capture", {})
        (context,) = captured
        for use in (lambda: context.owner, lambda: context.skills, lambda: context.output("x")):
            with pytest.raises(TurnEnded):
                use()


async def test_t_61_a_lease_of_another_runtime_or_a_released_one_is_refused() -> None:
    async with staged() as stage, staged() as other:
        foreign = await other.project(echo)
        with pytest.raises(LeaseInvalid, match="another runtime"):
            await stage.open(foreign)
        own = await stage.project(echo)
        released = FakeLease()
        await released.release()
        with pytest.raises(LeaseInvalid, match="released"):
            await stage.open(own, lease=released)
        assert await stage.records("", "t1") == await stage.records("", "t2") == []


async def test_t_62_exactly_one_terminal_record_the_first_wins_later_ones_are_noted() -> None:
    async with staged() as stage:
        turn = await stage.open(await stage.project(echo))
        async with anyio.create_task_group() as enders:
            enders.start_soon(turn.fail, "the first")
            enders.start_soon(turn.close, "cancelled", "the second")
        await turn.close()
        opened, closed = await stage.records()
        assert opened == TurnOpened(agent="default", session="s1", access=ANN, generation=7)
        assert isinstance(closed, TurnClosed)
        assert stage.lease.released == 1
        await anyio.wait_all_tasks_blocked()
        notes = [
            entry.record.text if entry.record.kind == "noted" else ""
            for name in list(stage.journal._threads)  # pyright: ignore[reportPrivateUsage]
            if name.startswith("runtime:")
            for entry in await stage.journal.read(name)
        ]
        loser = "the second" if closed.reason == "the first" else "the first"
        assert len(notes) == 2
        assert any(loser in note for note in notes)


async def test_t_62_a_terminal_record_that_cannot_be_written_fails_the_turn() -> None:
    async with staged() as stage:
        turn = await stage.open(await stage.project(echo))
        stage.journal.breaks = "turn_closed"
        with pytest.raises(TurnFailed):
            await turn.close()
        assert stage.lease.released == 1


async def test_a_turn_whose_first_record_cannot_be_written_is_not_opened() -> None:
    async with staged() as stage:
        stage.journal.breaks = "turn_opened"
        with pytest.raises(TurnFailed):
            await stage.open(await stage.project(echo))


async def test_t_63_two_sessions_run_side_by_side() -> None:
    both = anyio.Event()
    waiting: list[str] = []

    @tool(effects=effects())
    async def meet(context: CallContext) -> str:
        """Waits for the other session."""
        waiting.append(context.owner.session)
        if len(waiting) == 2:
            both.set()
        await both.wait()
        return context.owner.session

    async with staged() as stage:
        catalogue = await stage.project(meet)
        one = await stage.open(catalogue, session="s1", lease=FakeLease())
        two = await stage.open(catalogue, session="s2", lease=FakeLease())
        with anyio.fail_after(10):
            async with anyio.create_task_group() as callers:
                for turn in (one, two):
                    callers.start_soon(turn.call, "meet", NONE)
        assert sorted(waiting) == ["s1", "s2"]
        await one.close()
        await two.close()


NONE: JsonValue = {}


class Track:
    """Who runs beside whom."""

    def __init__(self) -> None:
        self.running: set[str] = set()
        self.log: list[tuple[str, frozenset[str]]] = []
        track = self

        @tool(effects=effects(), concurrency="parallel")
        async def look(name: str) -> str:
            """Parallel-safe."""
            return await track.pass_through(name)

        @tool(effects=effects())
        async def change(name: str) -> str:
            """Exclusive."""
            return await track.pass_through(name)

        self.tools = (look, change)

    async def pass_through(self, name: str) -> str:
        self.running.add(name)
        await anyio.sleep(0.01)
        self.log.append((name, frozenset(self.running)))
        self.running.discard(name)
        return name


def items(*names: str) -> list[CallItem]:
    return [
        CallItem(tool="look" if name.islower() else "change", arguments={"name": name}, call=name)
        for name in names
    ]


async def test_t_49_parallel_ones_overlap_exclusive_ones_do_not_answers_in_the_order_asked() -> None:
    track = Track()
    async with staged() as stage, stage.turn(*track.tools) as turn:
        outcomes = await turn.call_many(items("a", "b", "X", "Y", "c", "d"))
        assert [outcome.value for outcome in outcomes] == ["a", "b", "X", "Y", "c", "d"]
        beside = dict(track.log)
        assert beside["X"] == {"X"}
        assert beside["Y"] == {"Y"}
        assert any(len(others) == 2 for others in beside.values())
        assert {len(others) for others in beside.values()} <= {1, 2}
        assert [name for name, _ in track.log if name in "XY"] == ["X", "Y"]
        assert {name for name, _ in track.log[:2]} == {"a", "b"}
        assert await turn.call_many([]) == ()


async def test_t_49_a_batch_is_bounded_and_one_refusal_stops_nobody() -> None:
    track = Track()
    async with staged(parallel=2) as stage, stage.turn(*track.tools) as turn:
        outcomes = await turn.call_many(
            [*items("a", "b", "c", "d"), CallItem(tool="nothing", arguments={}), *items("e")]
        )
        assert [outcome.kind for outcome in outcomes] == ["completed"] * 4 + ["refused", "completed"]
        assert max(len(others) for _, others in track.log) <= 2


async def test_t_49_cancelling_a_batch_settles_every_call_in_it() -> None:
    running = anyio.Event()

    @tool(effects=effects(), concurrency="parallel")
    async def hang() -> None:
        """Hangs."""
        running.set()
        await anyio.sleep_forever()

    @tool(effects=effects())
    async def alone() -> None:
        """Exclusive."""

    async with staged(parallel=2) as stage, stage.turn(hang, alone) as turn:
        batch = [CallItem(tool="hang", arguments={}, call=f"h{n}") for n in range(4)]
        batch.append(CallItem(tool="alone", arguments={}, call="e"))

        async def run() -> None:
            await turn.call_many(batch)

        async with anyio.create_task_group() as callers:
            callers.start_soon(run)
            await running.wait()
            callers.cancel_scope.cancel()
        for item in batch:
            settled = [r for r in await stage.records(item.call) if isinstance(r, CallSettled)]
            assert [type(record.outcome) for record in settled] == [Cancelled]
        assert (await stage.kinds("e"))[0] == "requested"
        assert not (await stage.journal.verify())


@pytest.mark.parametrize("way", ["cancel", "close"])
async def test_pi_015_after_an_abort_nobody_else_is_asked_and_every_call_has_one_end(way: str) -> None:
    @tool(effects=effects("writes"))
    async def write(path: str) -> None:
        """Writes."""
        raise AssertionError("nobody said yes")

    async with staged() as stage:
        stage.approval = port = ScriptedPort()
        turn = await stage.open(await stage.project(write))
        batch = [CallItem(tool="write", arguments={"path": str(n)}, call=f"c{n}") for n in range(3)]
        outcomes: list[tuple[Outcome, ...]] = []

        async def run() -> None:
            outcomes.append(await turn.call_many(batch))

        async with anyio.create_task_group() as callers:
            callers.start_soon(run)
            await port.asked.wait()
            if way == "cancel":
                callers.cancel_scope.cancel()
            else:
                await turn.close("cancelled", "the person pressed stop")
        assert len(port.requests) == 1
        asked = [r for r in await stage.records() if isinstance(r, ApprovalAsked)]
        assert [record.call for record in asked] == ["c0"]
        for item in batch:
            settled = [r for r in await stage.records(item.call) if isinstance(r, CallSettled)]
            assert [type(record.outcome) for record in settled] == [Cancelled]
        if way == "close":
            assert [outcome.kind for outcome in outcomes[0]] == ["cancelled"] * 3
        await turn.close()


async def test_a_call_id_is_used_once() -> None:
    async with staged() as stage, stage.turn(echo) as turn:
        await turn.call("echo", {}, call="call-1")
        await turn.call("echo", {})
        with pytest.raises(DuplicateCall, match="has a call 'call-1' already"):
            await turn.call("echo", {}, call="call-1")
        with pytest.raises(DuplicateCall):
            await turn.call_many([CallItem(tool="echo", arguments={}, call="x")] * 2)
        assert {getattr(r, "call", None) for r in await stage.records()} == {None, "call-1", "call-2"}


async def test_a_batch_stops_where_the_record_cannot_be_kept() -> None:
    track = Track()
    async with staged() as stage:
        turn = await stage.open(await stage.project(*track.tools))
        stage.journal.breaks = "settled"
        with pytest.raises(TurnFailed):
            await turn.call_many(items("a", "b", "C", "D"))
        assert {name for name, _ in track.log} <= {"a", "b"}
        stage.journal.breaks = None
        await turn.close()


@tool(effects=effects(), notes=("echo answers at once.", "Be brief."))
async def noted() -> None:
    """With notes."""


async def test_instructions_are_deterministic_bounded_and_show_only_what_is_in_view() -> None:
    async with staged() as stage:
        catalogue = await stage.project(
            noted,
            services=[
                registered(Library("books", "guide", "manual")),
                registered(Library("secret", "hidden_one", visibility=Visibility(hidden=True))),
            ],
            notes=[
                NoteSource(text="Be brief.", source="plugin:a", owner="global"),
                NoteSource(text="  You are in default.  ", source="plugin:b", owner="default"),
            ],
        )
        turn = await stage.open(catalogue)
        text = turn.instructions()
        assert text == (
            "Be brief.\n\nYou are in default.\n\necho answers at once.\n\n"
            "Skills (documents to read before the work that they describe):\n"
            "- guide: About guide.\n- manual: About manual."
        )
        assert turn.instructions() == text
        for limit in range(0, len(text) + 1, 7):
            assert len(turn.instructions(limit=limit)) <= limit
        short = turn.instructions(limit=100)
        assert short.startswith("Be brief.")
        assert short.endswith("more left out: the limit is 100 characters)")
        await turn.close()


async def test_t_12_skills_are_described_on_demand_and_the_first_description_is_kept() -> None:
    library = Library("books", "guide", "manual")
    async with staged() as stage:
        catalogue = await stage.project(services=[registered(library)])
        assert library.described == []
        turn = await stage.open(catalogue, lease=FakeLease())
        other = await stage.open(catalogue, session="s2", lease=FakeLease())
        documents: list[SkillDocument] = []

        async def read() -> None:
            documents.append(await turn.describe_skill("guide"))

        async with anyio.create_task_group() as readers:
            for _ in range(5):
                readers.start_soon(read)
        documents.append(await other.describe_skill("guide"))
        assert {document.text for document in documents} == {"guide, read 1 times"}
        assert library.described == ["guide"]
        with pytest.raises(CallRefusal, match="no skill 'nothing' in view"):
            await turn.describe_skill("nothing")
        await turn.close()
        await other.close()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (OSError("the disk is gone"), "OSError: the disk is gone"),
        ("a text", "answered with a str"),
        (SkillDocument(id="other", text=""), "answered with the skill 'other'"),
        (SkillDocument(id="guide", text="é" * 600), "larger than 1000 bytes"),
        (None, "did not end within"),
    ],
)
async def test_t_12_a_skill_that_cannot_be_read_is_unavailable_and_asked_for_again(
    answer: object, words: str
) -> None:
    library = Library("books", "guide")
    library.answer = answer
    library.hang = answer is None
    library.deadline = 0.05 if answer is None else None
    async with staged(document_bytes=1000) as stage, stage.turn(services=[registered(library)]) as turn:
        with pytest.raises(CapabilityUnavailable, match=words):
            await turn.describe_skill("guide")
        library.answer, library.hang = None, False
        assert (await turn.describe_skill("guide")).id == "guide"


async def test_a_tool_reads_skills_through_its_context() -> None:
    @tool(effects=effects("reads"), name="skill")
    async def read_skill(name: str, context: CallContext) -> list[str]:
        """Reads a skill."""
        return [*(entry.id for entry in context.skills), (await context.describe_skill(name)).text]

    library = Library("books", "guide")
    async with staged() as stage, stage.turn(read_skill, services=[registered(library)]) as turn:
        outcome = await turn.call("skill", {"name": "guide"})
        assert outcome.value == ["guide", "guide, read 1 times"]
        assert (await turn.call("skill", {"name": "none"})).kind == "refused"
        library.answer = OSError("gone")
        assert (await turn.call("skill", {"name": "guide"})).kind == "completed"  # the first one is kept


async def test_the_owner_of_a_call_is_the_agents_session() -> None:
    async with staged() as stage:
        stage.approval = ScriptedPort(Approve(by="ann"))
        provider = Provider("outside", schema("fetch"))
        async with stage.turn(services=[registered(provider)]) as turn:
            assert turn.agent == DEFAULT
            assert turn.generation == 7
            assert (await turn.call("fetch", {})).value == "outside.fetch for global"
