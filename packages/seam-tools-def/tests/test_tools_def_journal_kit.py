"""The kit for `Journal` catches liars: each broken journal fails the check that is meant for it."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import cast

import anyio
import anyio.lowlevel
import pytest

from seam.tools_def import (
    CallSettled,
    Completed,
    Damage,
    Entry,
    Journal,
    JournalQuery,
    Record,
    Text,
    TurnClosedInJournal,
    TurnSummary,
)
from seam.tools_def.conformance import (
    JOURNAL_CHECKS,
    ConformanceFailure,
    JournalSubject,
    check_named,
    examine,
    leaves,
)
from seam.tools_runtime import MemoryJournal

pytestmark = pytest.mark.anyio


def closing(entries: AsyncIterator[Entry]) -> aclosing[AsyncGenerator[Entry]]:
    """Closes the inner iteration with the outer one."""
    return aclosing(cast("AsyncGenerator[Entry]", entries))


class Liar(Journal):
    """Hands everything on to an honest journal; liars change one thing."""

    def __init__(self) -> None:
        self.journal = MemoryJournal(entries=10_000)

    @property
    def durability(self) -> str:
        return self.journal.durability

    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        return await self.journal.append(turn, *records)

    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        return await self.journal.read(turn, after=after)

    async def query(self, query: JournalQuery) -> AsyncIterator[Entry]:
        async with closing(self.journal.query(query)) as entries:
            async for entry in entries:
                yield entry

    async def follow(self, query: JournalQuery) -> AsyncIterator[Entry]:
        async with closing(self.journal.follow(query)) as entries:
            async for entry in entries:
                yield entry

    async def turns(self, query: JournalQuery) -> Sequence[TurnSummary]:
        return await self.journal.turns(query)

    async def verify(self) -> Sequence[Damage]:
        return await self.journal.verify()

    async def damage(self, entry: Entry) -> None:
        stored = self.journal._threads[entry.turn].entries[entry.sequence]  # pyright: ignore[reportPrivateUsage]
        stored.text = stored.text.replace("}", " }")


class CountsFromOne(Liar):
    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        entries = await super().read(turn, after=after)
        return [entry.model_copy(update={"sequence": entry.sequence + 1}) for entry in entries]


class AfterIncluded(Liar):
    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        return await super().read(turn, after=after - 1)


class InventsEntries(Liar):
    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        return await super().append(
            turn, *(records or (CallSettled(call="c", tool="t", outcome=Completed(), ran=False, seconds=0),))
        )


class LocalTime(Liar):
    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        entries = await super().read(turn, after=after)
        return [entry.model_copy(update={"time": entry.time.replace(tzinfo=None)}) for entry in entries]


class BackInTime(Liar):
    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        start = datetime(2026, 1, 1, tzinfo=UTC)
        entries = await super().read(turn, after=after)
        return [entry.model_copy(update={"time": start - timedelta(entry.sequence)}) for entry in entries]


class NeverClosed(Liar):
    """Takes whatever comes behind the end, and does not tell."""

    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        try:
            return await super().append(turn, *records)
        except TurnClosedInJournal:
            return ()


class PartByPart(Liar):
    """Appends one record after the other, with room for others in between."""

    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        entries: list[Entry] = []
        for record in records:
            await anyio.sleep(0)
            entries += await super().append(turn, record)
        return tuple(entries)


class WritesNothing(Liar):
    async def write(self, turn: str, *records: Record) -> None:
        return


class IgnoresCase(Liar):
    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        return await super().append(turn.strip().lower(), *records)

    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        return await super().read(turn.strip().lower(), after=after)


def _settled(change: Callable[[CallSettled], CallSettled]) -> type[Liar]:
    class Changes(Liar):
        async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
            changed = [change(record) if isinstance(record, CallSettled) else record for record in records]
            return await super().append(turn, *changed)

    return Changes


def _lines_only(record: CallSettled) -> CallSettled:
    content = tuple(
        Text(text=" ".join(item.text.splitlines())) if isinstance(item, Text) else item
        for item in record.outcome.content
    )
    return record.model_copy(update={"outcome": record.outcome.model_copy(update={"content": content})})


def _small(record: CallSettled) -> CallSettled:
    large = len(str(record.outcome.value)) > 100_000
    return record.model_copy(update={"outcome": Completed()}) if large else record


class Shares(Liar):
    """Gives its own records away."""

    def __init__(self) -> None:
        super().__init__()
        self.given: dict[str, list[Entry]] = {}

    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        entries = await super().append(turn, *records)
        self.given.setdefault(turn, []).extend(entries)
        return entries

    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        return self.given[turn]


class BreaksOff(Liar):
    """A cancelled append leaves its first record."""

    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        entries = list(await super().append(turn, *records[:1]))
        await anyio.lowlevel.checkpoint()
        if records[1:]:
            entries += await super().append(turn, *records[1:])
        return tuple(entries)


class HashesNothing(Liar):
    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        return [
            entry.model_copy(update={"hash": "sha256:0"}) for entry in await super().read(turn, after=after)
        ]


class OneAnchor(Liar):
    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        entries = await super().append(turn, *records)
        return tuple(
            entry.model_copy(update={"previous": "anchor"}) if entry.sequence == 0 else entry
            for entry in entries
        )


class CriesWolf(Liar):
    async def verify(self) -> Sequence[Damage]:
        return [Damage(place="somewhere", problem="something")]


class SeesNothing(Liar):
    async def verify(self) -> Sequence[Damage]:
        return ()


class NamesNothing(Liar):
    async def verify(self) -> Sequence[Damage]:
        return [damage.model_copy(update={"place": "somewhere"}) for damage in await super().verify()]


def _asking(change: Callable[[JournalQuery], JournalQuery]) -> type[Liar]:
    class Asks(Liar):
        async def query(self, query: JournalQuery) -> AsyncIterator[Entry]:
            async with closing(self.journal.query(change(query))) as entries:
                async for entry in entries:
                    yield entry

        async def turns(self, query: JournalQuery) -> Sequence[TurnSummary]:
            return await self.journal.turns(change(query))

    return Asks


def _without(*fields: str) -> type[Liar]:
    return _asking(lambda query: query.model_copy(update=dict.fromkeys(fields)))


class NewestFirst(Liar):
    async def query(self, query: JournalQuery) -> AsyncIterator[Entry]:
        entries = [entry async for entry in self.journal.query(query.model_copy(update={"limit": None}))]
        for entry in list(reversed(entries))[: query.limit]:
            yield entry


class EverythingIsATurn(Liar):
    async def turns(self, query: JournalQuery) -> Sequence[TurnSummary]:
        turns = list(await super().turns(query))
        return [turn.model_copy(update={"state": "ended"}) for turn in turns]


class OnlyHistory(Liar):
    async def follow(self, query: JournalQuery) -> AsyncIterator[Entry]:
        async with closing(self.journal.query(query)) as entries:
            async for entry in entries:
                yield entry


class OnlyNews(Liar):
    async def follow(self, query: JournalQuery) -> AsyncIterator[Entry]:
        known = len([entry async for entry in self.journal.query(query)])
        async with closing(self.journal.follow(query.model_copy(update={"limit": None}))) as entries:
            async for entry in entries:
                known -= 1
                if known < 0:
                    yield entry


class Silent(Liar):
    @property
    def durability(self) -> str:
        return ""


LIARS: dict[str, type[Liar]] = {
    "t_90_sequences_have_no_gaps": CountsFromOne,
    "t_90_reads_after_any_number": AfterIncluded,
    "appends_nothing": InventsEntries,
    "writes_as_it_appends": WritesNothing,
    "times_never_go_back": BackInTime,
    "t_90_refuses_after_the_terminal": NeverClosed,
    "refuses_records_behind_a_terminal": PartByPart,
    "t_90_one_terminal_wins": NeverClosed,
    "all_or_none": PartByPart,
    "pi_022_appends_side_by_side": PartByPart,
    "t_91_lookalike_ids_stay_different": IgnoresCase,
    "pi_020_any_text_comes_back": _settled(_lines_only),
    "large_values_come_back": _settled(_small),
    "readers_cannot_change_it": Shares,
    "cancelled_appends_are_whole": BreaksOff,
    "keeps_beyond_closing": Liar,
    "entries_are_chained": HashesNothing,
    "turns_are_anchored": OneAnchor,
    "verify_is_quiet": CriesWolf,
    "t_92_damage_is_found": SeesNothing,
    "query_filters": _without("tool"),
    "t_94_unsettled_is_unknown": _without("outcome"),
    "query_by_time": NewestFirst,
    "turns_are_summed_up": EverythingIsATurn,
    "follow_goes_on": OnlyHistory,
    "follow_ends": OnlyNews,
    "durability_is_said": Silent,
}

MORE_LIARS: list[tuple[str, type[Liar]]] = [
    ("times_never_go_back", LocalTime),
    ("t_92_damage_is_found", NamesNothing),
    ("query_filters", _without("session")),
    ("query_filters", _without("outcome")),
    ("query_by_time", _without("since")),
    ("query_by_time", _without("until")),
    ("turns_are_summed_up", _without("limit")),
]


def lying(kind: type[Liar]) -> JournalSubject:
    kept: list[Liar] = []

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Journal]:
        # nothing of it survives its closing: a liar too where it is not said
        kept.append(kind())
        yield kept[-1]

    async def damage(entry: Entry) -> None:
        await kept[-1].damage(entry)

    return JournalSubject(name=kind.__name__, open=opened, damage=damage)


def test_every_check_has_its_liar() -> None:
    assert set(LIARS) == {check.name for check in JOURNAL_CHECKS}


@pytest.mark.parametrize(("name", "liar"), [*LIARS.items(), *MORE_LIARS])
async def test_a_liar_is_caught_by_the_check_that_is_meant_for_it(name: str, liar: type[Liar]) -> None:
    with anyio.move_on_after(3) as patience:
        with pytest.raises((ConformanceFailure, ExceptionGroup)) as caught:
            await check_named(JOURNAL_CHECKS, name).run(lying(liar))
        assert any(isinstance(leaf, ConformanceFailure) for leaf in leaves(caught.value))
        return
    # a liar that never goes on is caught by the time limit of whoever runs the kit
    assert patience.cancelled_caught


async def test_an_honest_journal_conforms_and_the_card_says_what_is_left_out() -> None:
    subject = dataclasses.replace(lying(Liar), lacks=frozenset({"reopen"}))
    card = await examine("journal", "memory", subject, JOURNAL_CHECKS, lacks=frozenset(subject.lacks))
    assert card.conforms
    assert [result.name for result in card.results if result.result == "left out"] == ["keeps_beyond_closing"]
