"""The hash chain: entries are bound to their place, and damage shows."""

from __future__ import annotations

from seam.tools_def._chain import entry_hash, record_text
from seam.tools_def._journal import Journal
from seam.tools_def._outcome import Completed
from seam.tools_def.conformance._check import CheckList, expect
from seam.tools_def.conformance._journal_subject import (
    JournalSubject,
    closed,
    opened,
    requested,
    settled,
    started,
)

chain_checks: CheckList[JournalSubject] = CheckList([])


@chain_checks("each entry's hash covers its place and record, and names the entry before it")
async def entries_are_chained(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        await journal.append("t1", opened(), requested("c1"))
        await journal.append("t1", started("c1"))
        await journal.append("t1", settled("c1", outcome=Completed(value={"a": [1, "é"]})), closed())
        previous: str | None = None
        for entry in await journal.read("t1"):
            computed = entry_hash(
                entry.turn, entry.sequence, entry.time, record_text(entry.record), entry.previous
            )
            expect(entry.hash == computed, f"entry {entry.sequence}: its hash is not entry_hash of it")
            expect(bool(entry.previous), f"entry {entry.sequence} names no entry (or anchor) before it")
            expect(
                previous in (None, entry.previous), f"entry {entry.sequence} is not linked to the one before"
            )
            previous = entry.hash


@chain_checks("the first entries of two turns have anchors of their own")
async def turns_are_anchored(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        (first,) = await journal.append("t1", opened())
        (second,) = await journal.append("t2", opened())
        expect(first.previous != second.previous, "two turns hang on one anchor: one could replace the other")


async def _written(journal: Journal) -> None:
    for turn in ("t1", "t2", "t3"):
        await journal.append(
            turn, opened(), requested("c1"), started("c1"), settled("c1", outcome=Completed(value=turn))
        )
    await journal.append("t1", closed())


@chain_checks("verify finds nothing in what nobody touched, while turns are open")
async def verify_is_quiet(subject: JournalSubject) -> None:
    async with subject.open() as journal:
        expect(not await journal.verify(), "verify finds damage in an empty journal")
        await _written(journal)
        damage = await journal.verify()
        expect(not damage, f"verify finds damage that is not there: {list(damage)}")


@chain_checks("a changed entry is found, named, and does not eat its neighbour (T-92)", needs=["damage"])
async def t_92_damage_is_found(subject: JournalSubject) -> None:
    expect(subject.damage is not None, "the subject does not lack `damage` and gives no way to do it")
    async with subject.open() as journal:
        await _written(journal)
        entries = await journal.read("t2")
        assert subject.damage is not None  # said above
        await subject.damage(entries[2])
        damage = await journal.verify()
        expect(bool(damage), "verify does not find a changed entry")
        named = [found for found in damage if "t2" in found.place and "2" in found.place]
        expect(bool(named), f"verify does not name the place (turn t2, sequence 2): {list(damage)}")
        expect(
            [e.record for e in await journal.read("t3")][-1] == settled("c1", outcome=Completed(value="t3")),
            "damage in one turn makes another unreadable",
        )
        await journal.append("t3", closed())
