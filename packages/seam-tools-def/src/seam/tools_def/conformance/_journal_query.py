"""Questions to the journal: filters, summaries, following."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

import anyio

from seam.tools_def._journal import Entry, Journal, JournalQuery
from seam.tools_def._outcome import Failed, Refused
from seam.tools_def._records import Noted
from seam.tools_def.conformance._check import CheckList, expect
from seam.tools_def.conformance._journal_subject import (
    JournalSubject,
    closed,
    opened,
    requested,
    settled,
    started,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

query_checks: CheckList[JournalSubject] = CheckList([])

HOST = "host:1"


async def _story(journal: Journal) -> None:
    """Two turns, four calls: c1 completed, c2 refused, c3 started and never settled, c4 (another turn) failed."""
    await journal.append(HOST, Noted(topic="generation.published", text="1"))
    await journal.append("t1", opened("ann", "s1"), requested("c1", "read"))
    await journal.append("t1", started("c1"), settled("c1", "read"))
    await journal.append("t1", requested("c2", "shell"))
    await journal.append("t1", settled("c2", "shell", Refused(policy="approval", reason="no")))
    await journal.append("t2", opened("bob", "s2"), requested("c1", "shell"), started("c1"))
    await journal.append("t1", requested("c3", "read"), started("c3"))
    failed = Failed(code="X", message="x")
    await journal.append("t2", settled("c1", "shell", failed), closed("failed"))


async def _ask(journal: Journal, query: JournalQuery) -> list[tuple[str, str]]:
    return [(entry.turn, entry.record.kind) async for entry in journal.query(query)]


T1_READ = [("t1", kind) for kind in ("requested", "started", "settled", "requested", "started")]
FAILED = [("t2", kind) for kind in ("requested", "started", "settled")]


@query_checks("query filters by turn, session, agent, tool and outcome; all given ones hold")
async def query_filters(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await _story(journal)
        everything = await _ask(journal, JournalQuery())
        expect(len(everything) == 14, f"an empty query gives {len(everything)} of 14 entries")
        for query, expected in (
            (JournalQuery(turn="t2"), [entry for entry in everything if entry[0] == "t2"]),
            (JournalQuery(session="s1"), [entry for entry in everything if entry[0] == "t1"]),
            (JournalQuery(agent="bob"), [entry for entry in everything if entry[0] == "t2"]),
            (JournalQuery(agent="bob", session="s1"), []),
            (JournalQuery(turn=HOST), [(HOST, "noted")]),
            (JournalQuery(tool="read"), T1_READ),
            (JournalQuery(tool="shell", turn="t2"), FAILED),
            (JournalQuery(outcome="failed"), FAILED),
            (JournalQuery(outcome="completed", tool="shell"), []),
            (JournalQuery(outcome="refused"), [("t1", "requested"), ("t1", "settled")]),
        ):
            found = await _ask(journal, query)
            expect(found == expected, f"{query!r} gives {found}, not {expected}")


@query_checks("a started call without settlement is found as `unknown`, never as not run (T-94)")
async def t_94_unsettled_is_unknown(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await _story(journal)
        found = await _ask(journal, JournalQuery(outcome="unknown"))
        expect(found == [("t1", "requested"), ("t1", "started")], f"`unknown` gives {found}")
        (summary,) = await journal.turns(JournalQuery(turn="t1"))
        expect(summary.unsettled == ("c3",), f"unsettled is {summary.unsettled}")
        (other,) = await journal.turns(JournalQuery(turn="t2"))
        expect(other.unsettled == (), "a call of another turn with the same id counts as unsettled")


@query_checks("query filters by time, oldest first, and stops at the limit")
async def query_by_time(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await _story(journal)
        entries = [entry async for entry in journal.query(JournalQuery())]
        expect([e.time for e in entries] == sorted(e.time for e in entries), "not in the order of time")
        middle = entries[7].time
        since = [e async for e in journal.query(JournalQuery(since=middle))]
        until = [e async for e in journal.query(JournalQuery(until=middle))]
        expect(since == [e for e in entries if e.time >= middle], "`since` is not: at or after")
        expect(until == [e for e in entries if e.time < middle], "`until` is not: before")
        first = [e async for e in journal.query(JournalQuery(limit=3))]
        expect(first == entries[:3], "`limit` does not give the oldest entries")


@query_checks("turns are summed up, newest last; the host's own sequence is not a turn")
async def turns_are_summed_up(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await _story(journal)
        turns = list(await journal.turns(JournalQuery()))
        expect([turn.turn for turn in turns] == ["t1", "t2"], f"turns are {[turn.turn for turn in turns]}")
        one, two = turns
        expect((one.agent, one.session, one.state) == ("ann", "s1", "open"), f"t1 reads {one!r}")
        expect((two.agent, two.session, two.state) == ("bob", "s2", "failed"), f"t2 reads {two!r}")
        expect((one.calls, two.calls) == (3, 1), f"calls are {one.calls} and {two.calls}")
        expect((one.entries, two.entries) == (8, 5), f"entries are {one.entries} and {two.entries}")
        expect(one.ended is None and two.ended is not None, "`ended` is wrong")
        found = [turn.turn for turn in await journal.turns(JournalQuery(outcome="failed"))]
        expect(found == ["t2"], f"turns with a failed call: {found}")
        newest = [turn.turn for turn in await journal.turns(JournalQuery(limit=1))]
        expect(newest == ["t2"], "`limit` does not give the newest turns")


async def _take(entries: AsyncIterator[Entry], count: int) -> list[str]:
    taken: list[str] = []
    async for entry in entries:
        taken.append(entry.record.kind)
        if len(taken) == count:
            break
    return taken


@query_checks("follow gives what is there, then what arrives, each once and in order")
async def follow_goes_on(subject: JournalSubject) -> None:
    found: list[str] = []
    async with subject.open() as journal:
        await journal.append("t1", opened(), requested("c1"))
        await journal.append("t2", opened())
        stream = cast("AsyncGenerator[Entry]", journal.follow(JournalQuery(turn="t1")))
        async with aclosing(stream):
            with anyio.fail_after(30):
                expect(await _take(stream, 2) == ["turn_opened", "requested"], "history is not given first")
                async with anyio.create_task_group() as writers:
                    writers.start_soon(journal.append, "t2", requested("c1"))
                    writers.start_soon(journal.append, "t1", started("c1"), settled("c1"))
                    found = await _take(stream, 2)
                expect(found == ["started", "settled"], f"new entries are {found}")
        await journal.append("t1", closed())  # nobody listens any more: that stops nobody


@query_checks("follow ends when its limit is reached, and a follower that waits does not stop the closing")
async def follow_ends(subject: JournalSubject) -> None:
    seen: list[str] = []
    async with subject.open() as journal:
        await journal.append("t1", opened(), requested("c1"), started("c1"))
        with anyio.fail_after(30):
            async for entry in journal.follow(JournalQuery(limit=2)):
                seen.append(entry.record.kind)
        expect(seen == ["turn_opened", "requested"], f"a follow with limit 2 gave {seen}")
        async with anyio.create_task_group() as followers:

            async def wait_for_more() -> None:
                async for _ in journal.follow(JournalQuery(turn="nobody")):
                    pass

            followers.start_soon(wait_for_more)
            await anyio.wait_all_tasks_blocked()
            followers.cancel_scope.cancel()


@query_checks("it says what an acknowledged entry survives")
async def durability_is_said(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        expect(len(journal.durability.split()) > 2, "durability is not a sentence")
