"""Several processes and threads write different turns of one journal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import cast

import anyio
import anyio.to_thread
import pytest
from journal_sqlite_story import closed, opened, requested, settled, started, whole_turn

from seam.journal_sqlite import SqliteJournal, SqliteJournalConfig
from seam.tools_def import Entry, Journal, JournalQuery, TurnClosedInJournal

HERE = Path(__file__).parent


async def told_it_is_not_theirs(journal: Journal, turn: str) -> bool:
    try:
        await journal.append(turn, requested("c9"))
    except TurnClosedInJournal as error:
        return error.facts["turn"] == turn
    return False


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_pi_022_every_call_of_8_threads_and_2_processes_is_whole(tmp_path: Path) -> None:
    """200 calls with 100 kB of output each: 2 processes, 4 threads in each, 25 calls side by side in each."""
    file = tmp_path / "journal.db"
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    running = [
        subprocess.Popen(
            [sys.executable, str(HERE / "journal_sqlite_many.py"), str(file), name, "4", "25", "100000"],
            env=environment,
        )
        for name in ("1", "2")
    ]
    for process in running:
        assert await anyio.to_thread.run_sync(process.wait, 100) == 0
    async with SqliteJournal.open(SqliteJournalConfig(path=file)) as journal:
        turns = await journal.turns(JournalQuery())
        assert sorted(turn.turn for turn in turns) == sorted(f"p{p}-{t}" for p in (1, 2) for t in range(4))
        assert all((turn.calls, turn.unsettled, turn.state) == (25, (), "ended") for turn in turns)
        counted = Counter(
            [
                (entry.turn, entry.record.kind, getattr(entry.record, "call", ""))
                async for entry in journal.query(JournalQuery())
            ]
        )
        assert set(counted.values()) == {1}
        assert len(counted) == 8 * (1 + 25 * 3 + 1)
        assert not await journal.verify()


@pytest.mark.anyio
async def test_t_90_two_writers_of_one_turn_one_wins_and_the_other_is_told(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    async with SqliteJournal.open(config) as one, SqliteJournal.open(config) as other:
        refused: list[bool] = []

        async def write(journal: SqliteJournal) -> None:
            try:
                await journal.append("t1", opened(), requested("c1"))
            except TurnClosedInJournal:
                refused.append(True)
            else:
                refused.append(False)

        async with anyio.create_task_group() as racers:
            racers.start_soon(write, one)
            racers.start_soon(write, other)
        assert sorted(refused) == [False, True]
        assert [entry.sequence for entry in await one.read("t1")] == [0, 1]
        await whole_turn(one, "t2")
        await whole_turn(other, "t3")
        assert await told_it_is_not_theirs(other, "t2"), "a closed turn of another writer was taken"
        assert not await one.verify()


@pytest.mark.anyio
async def test_a_turn_of_a_writer_that_is_gone_may_be_taken_over_and_of_a_living_one_not(
    tmp_path: Path,
) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    async with SqliteJournal.open(config) as other:
        async with SqliteJournal.open(config) as one:
            await one.append("t1", opened(), requested("c1"), started("c1"))
            assert await told_it_is_not_theirs(other, "t1")
        await other.append("t1", settled("c1"), closed())
        entries = await other.read("t1")
        assert [entry.sequence for entry in entries] == [0, 1, 2, 3, 4]
        assert not await other.verify()


@pytest.mark.anyio
async def test_follow_sees_what_another_writer_appends(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db", poll=0.01)
    seen: list[str] = []
    async with SqliteJournal.open(config) as one, SqliteJournal.open(config) as other:
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(whole_turn, other, "t1")
                following = cast("AsyncGenerator[Entry]", one.follow(JournalQuery(turn="t1")))
                async with aclosing(following):
                    async for entry in following:
                        seen.append(entry.record.kind)
                        if entry.record.kind == "turn_closed":
                            break
    assert seen == ["turn_opened", "requested", "started", "settled", "turn_closed"]


@pytest.mark.anyio
async def test_the_files_of_writers_that_are_gone_are_swept(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    async with SqliteJournal.open(config) as journal:
        await whole_turn(journal, "t1")
        writers = tmp_path / "journal.db.d" / "writers"
        (writers / "deadbeef").touch()  # what a killed process leaves: its lock went with it
        (mine,) = [file for file in writers.iterdir() if file.name != "deadbeef"]
        async with SqliteJournal.open(config):
            left = set(writers.iterdir())
            assert len(left) == 2
            assert mine in left
            assert writers / "deadbeef" not in left
    assert not list(writers.iterdir())
