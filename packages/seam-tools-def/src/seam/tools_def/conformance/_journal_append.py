"""Appending and reading back: order, wholeness, the end of a turn."""

from __future__ import annotations

import contextlib
from datetime import timedelta

import anyio

from seam.tools_def._errors import NotSerialisable, TurnClosedInJournal
from seam.tools_def._journal import Journal
from seam.tools_def._outcome import Completed, Text
from seam.tools_def._records import Noted, Record
from seam.tools_def.conformance._check import CheckList, expect
from seam.tools_def.conformance._journal_subject import (
    JournalSubject,
    closed,
    opened,
    requested,
    settled,
    started,
    written,
)

append_checks: CheckList[JournalSubject] = CheckList([])

LOOKALIKES = (
    "t", "T", "t ", " t", "t\n", "t\0", "t/1", "t_1", "t-1", "t.1", "t%2F1", "é", "e\u0301", "\u0442", "t" * 300, "..",
    "1", "01", "host:1", "t\udcff",
)  # fmt: skip
NASTY = "line\nline\r\u2028\u2029\x85\0\x1b[0m\udcff\U0001f600"


@append_checks("sequence numbers start at 0 and have no gaps; what append returns is what read gives (T-90)")
async def t_90_sequences_have_no_gaps(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        first = await journal.append("t1", opened(), requested("c1"))
        second = await journal.append("t1", started("c1"))
        third = await journal.append("t1", settled("c1"), closed())
        entries = list(await journal.read("t1"))
        expect([*first, *second, *third] == entries, "append returned other entries than read gives")
        expect([e.sequence for e in entries] == [0, 1, 2, 3, 4], f"sequence {[e.sequence for e in entries]}")
        expect({e.turn for e in entries} == {"t1"}, "an entry names another turn")
        expect(
            [e.record for e in entries]
            == [opened(), requested("c1"), started("c1"), settled("c1"), closed()],
            "a record came back changed",
        )


@append_checks("read gives the entries above a sequence number; of an unknown turn nothing (T-90)")
async def t_90_reads_after_any_number(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await journal.append("t1", opened(), requested("c1"), started("c1"), settled("c1"))
        for after in range(-1, 5):
            found = [entry.sequence for entry in await journal.read("t1", after=after)]
            expect(found == list(range(after + 1, 4)), f"read(after={after}) gave {found}")
        expect(list(await journal.read("never seen")) == [], "an unknown turn has entries")


@append_checks("an append of nothing changes nothing")
async def appends_nothing(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        expect(tuple(await journal.append("t1")) == (), "an append of nothing gave entries")
        expect(list(await journal.read("t1")) == [], "an append of nothing left entries")


@append_checks("write keeps what append keeps, and refuses what it refuses")
async def writes_as_it_appends(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await journal.write("t1", opened(), requested("c1"))
        await journal.write("t1", closed())
        entries = await journal.read("t1")
        expect(
            [e.record for e in entries] == [opened(), requested("c1"), closed()], "write kept something else"
        )
        try:
            await journal.write("t1", requested("c2"))
        except TurnClosedInJournal:
            pass
        else:
            expect(False, "write was taken behind the terminal record")


@append_checks("times are aware, in UTC, and never go back within a turn")
async def times_never_go_back(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        for number in range(20):
            await journal.append("t1", requested(f"c{number}"))
        times = [entry.time for entry in await journal.read("t1")]
        expect(all(time.utcoffset() == timedelta(0) for time in times), "a time is not in UTC")
        expect(times == sorted(times), "times go back within a turn")


async def _refused(journal: Journal, turn: str, *records: Record) -> bool:
    try:
        await journal.append(turn, *records)
    except TurnClosedInJournal:
        return True
    return False


@append_checks("an append after the terminal record is refused, and leaves nothing (T-90)")
async def t_90_refuses_after_the_terminal(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await journal.append("t1", opened(), closed())
        for late in (requested("c9"), closed("failed"), Noted(topic="late", text="late")):
            expect(await _refused(journal, "t1", late), f"{late.kind} was taken after the terminal record")
        expect(len(await journal.read("t1")) == 2, "a refused append left something")
        await journal.append("t2", opened())  # the others go on


@append_checks("records after a terminal one in the same append are refused, all or none")
async def refuses_records_behind_a_terminal(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await journal.append("t1", opened())
        refused = await _refused(journal, "t1", closed(), requested("c1"))
        expect(refused, "a record behind the terminal one was taken")
        expect(len(await journal.read("t1")) == 1, "an append that was refused was done in part")


@append_checks("of two terminal records that race, one wins and the other is told (T-90, T-62)")
async def t_90_one_terminal_wins(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await journal.append("t1", opened())
        told: list[bool] = []

        async def close(how: str) -> None:
            told.append(await _refused(journal, "t1", closed("failed" if how == "failed" else "ended")))

        async with anyio.create_task_group() as racers:
            racers.start_soon(close, "failed")
            racers.start_soon(close, "ended")
        kinds = [entry.record.kind for entry in await journal.read("t1")]
        expect(sorted(told) == [False, True], f"refused: {told}")
        expect(kinds == ["turn_opened", "turn_closed"], f"the turn holds {kinds}")


@append_checks("a record that is not JSON is refused, and nothing of its append is kept")
async def all_or_none(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await journal.append("t1", opened())
        broken = settled("c1").model_copy(update={"outcome": Completed.model_construct(value=object())})  # pyright: ignore[reportArgumentType] - the lie
        try:
            await journal.append("t1", requested("c1"), broken)
        except NotSerialisable:
            pass
        else:
            expect(False, "a value that is not JSON was taken")
        await journal.append("t1", requested("c2"))
        entries = await journal.read("t1")
        expect([e.sequence for e in entries] == [0, 1], "a refused append was done in part or left a gap")
        expect(entries[-1].record == requested("c2"), "the wrong record was kept")


@append_checks("appends side by side in one turn get numbers without gaps, and each stays together (PI-022)")
async def pi_022_appends_side_by_side(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await journal.append("t1", opened())

        async def call(number: int) -> None:
            await journal.append("t1", requested(f"c{number}"), started(f"c{number}"))
            await journal.append("t1", settled(f"c{number}", outcome=Completed(value="x" * 1000)))

        async with anyio.create_task_group() as calls:
            for number in range(50):
                calls.start_soon(call, number)
        entries = await journal.read("t1")
        expect([e.sequence for e in entries] == list(range(151)), "numbers have gaps or repeat")
        kinds = [(entry.record.kind, getattr(entry.record, "call", None)) for entry in entries]
        for number in range(50):
            place = kinds.index(("requested", f"c{number}"))
            expect(kinds[place + 1] == ("started", f"c{number}"), "two records of one append were parted")
            expect(kinds.count(("settled", f"c{number}")) == 1, f"c{number} has not exactly one settlement")


@append_checks("different ids that look alike stay different (T-91)")
async def t_91_lookalike_ids_stay_different(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        for number, turn in enumerate(LOOKALIKES):
            await journal.append(turn, opened(session=f"s{number}"))
        for number, turn in enumerate(LOOKALIKES):
            entries = await journal.read(turn)
            found = [e.record for e in entries]
            expect(found == [opened(session=f"s{number}")], f"turn {turn!r} holds {found}")
            expect(entries[0].turn == turn, f"turn {turn!r} came back as {entries[0].turn!r}")


@append_checks("any text comes back equal: line ends, NUL, U+2028, lone surrogates (PI-020)")
async def pi_020_any_text_comes_back(subject: JournalSubject) -> None:
    record = settled(
        "c" + NASTY, outcome=Completed(value={NASTY: [NASTY, 1.5, None]}, content=(Text(text=NASTY),))
    )
    async with subject.open() as journal:
        entries = await written(journal, "t1", record, closed())
        expect([e.record for e in entries] == [record, closed()], "a record with odd characters changed")


@append_checks("a large value comes back equal")
async def large_values_come_back(subject: JournalSubject) -> None:
    record = settled("c1", outcome=Completed(value={"text": "é" * 500_000, "list": list(range(10_000))}))
    async with subject.open() as journal:
        entries = await written(journal, "t1", record, settled("c2"))
        expect(entries[0].record == record, "a large value changed")
        expect(entries[1].record == settled("c2"), "the record behind a large value changed")


@append_checks("what a reader does to an entry does not change the journal")
async def readers_cannot_change_it(subject: JournalSubject) -> None:
    record = settled("c1", outcome=Completed(value={"list": [1]}))
    async with subject.open() as journal:
        (entry,) = await written(journal, "t1", record)
        value = getattr(getattr(entry.record, "outcome", None), "value", None)
        if isinstance(value, dict):
            with contextlib.suppress(TypeError):  # frozen: even better
                value["list"] = "changed"
        (again,) = await journal.read("t1")
        expect(again.record == settled("c1", outcome=Completed(value={"list": [1]})), "a reader changed it")
        expect(not await journal.verify(), "verify finds damage after a reader's change")


@append_checks("an append that is cancelled is there whole or not at all")
async def cancelled_appends_are_whole(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await journal.append("t1", opened())
        with anyio.CancelScope() as scope:
            scope.cancel()
            await journal.append("t1", requested("c1"), started("c1"))
        await journal.append("t1", requested("c2"))
        entries = await journal.read("t1")
        expect([e.sequence for e in entries] == list(range(len(entries))), "a cancelled append left a gap")
        expect(len(entries) in (2, 4), f"a cancelled append left {len(entries) - 2} of 2 records")
        expect(not await journal.verify(), "verify finds damage after a cancelled append")


@append_checks("it keeps what it acknowledged when it is closed and opened again", needs=["reopen"])
async def keeps_beyond_closing(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        kept = await journal.append("t1", opened(), requested("c1"), started("c1"))
        done = await journal.append("t2", opened(), closed())
    async with subject.open() as journal:
        expect(list(await journal.read("t1")) == list(kept), "entries changed or went when it was closed")
        expect(list(await journal.read("t2")) == list(done), "entries changed or went when it was closed")
        expect(await _refused(journal, "t2", requested("c1")), "a closed turn is open again")
        expect(not await journal.verify(), "verify finds damage in what was closed in order")
