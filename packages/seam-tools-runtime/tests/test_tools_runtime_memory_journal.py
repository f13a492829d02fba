"""The journal in memory keeps the contract, within its bound."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from seam.tools_def import Access, Entry, Journal, JournalQuery, TurnClosed, TurnOpened
from seam.tools_def.conformance import JournalConformance, JournalSubject
from seam.tools_runtime import MemoryJournal


class MemorySubject:
    """One journal; the tester reaches into its memory to do damage."""

    def __init__(self) -> None:
        self.journal = MemoryJournal(entries=1000)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Journal]:
        yield self.journal

    async def damage(self, entry: Entry) -> None:
        stored = self.journal._threads[entry.turn].entries[entry.sequence]  # pyright: ignore[reportPrivateUsage] - behind its back
        stored.text = stored.text.replace("}", " }")


class TestMemoryJournal(JournalConformance):
    @pytest.fixture
    def subject(self) -> JournalSubject:
        memory = MemorySubject()
        return JournalSubject(
            name="memory", open=memory.open, lacks=frozenset({"reopen"}), damage=memory.damage
        )


def opened() -> TurnOpened:
    return TurnOpened(
        agent="default", session="s", access=Access(principal="ann", platform="cli"), generation=1
    )


@pytest.mark.anyio
async def test_it_forgets_the_oldest_closed_turns_and_no_open_one() -> None:
    journal = MemoryJournal(entries=6)
    await journal.append("open", opened())
    for number in range(10):
        await journal.append(f"t{number}", opened(), TurnClosed(how="ended"))
    # the oldest is open: nothing behind it is forgotten, the chain of anchors stays whole
    assert len(await journal.turns(JournalQuery())) == 11
    await journal.append("open", TurnClosed(how="ended"))
    await journal.append("last", opened())
    assert [turn.turn for turn in await journal.turns(JournalQuery())] == ["t8", "t9", "last"]
    assert list(await journal.read("open")) == []
    assert not await journal.verify()


@pytest.mark.anyio
async def test_t_92_removed_entries_and_turns_show() -> None:
    journal = MemoryJournal(entries=100)
    threads = journal._threads  # pyright: ignore[reportPrivateUsage] - behind its back
    for turn in ("t1", "t2", "t3"):
        await journal.append(turn, opened())
        await journal.append(turn, opened(), TurnClosed(how="ended"))
    removed = threads["t2"].entries.pop(1)
    places = [damage.place for damage in await journal.verify()]
    assert set(places) == {"turn t2, sequence 1"}
    threads["t2"].entries.insert(1, replace(removed))
    assert not await journal.verify()
    gone = threads.pop("t2")
    assert [damage.place for damage in await journal.verify()] == ["turn t3"]
    threads["t2"] = gone
    del threads["t3"]
    assert any(damage.place == "end" for damage in await journal.verify())
