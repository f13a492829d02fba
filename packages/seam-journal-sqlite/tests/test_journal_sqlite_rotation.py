"""The bound on size, and where large values go."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from journal_sqlite_story import opened, output, requested, settled, started, whole_turn

from seam.journal_sqlite import SqliteJournal, SqliteJournalConfig
from seam.tools_def import Completed, JournalQuery

KIB = 1024


def value_files(config: SqliteJournalConfig) -> list[Path]:
    return sorted((config.path.parent / (config.path.name + ".d") / "values").iterdir())


@pytest.mark.anyio
async def test_t_95_rotation_keeps_the_bound_the_newest_turns_and_the_chain(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db", max_bytes=256 * KIB)
    async with SqliteJournal.open(config) as journal:
        for number in range(200):
            await whole_turn(journal, f"t{number}", calls=2, outcome=output(2000))
        turns = [turn.turn for turn in await journal.turns(JournalQuery())]
        assert turns == [f"t{number}" for number in range(200 - len(turns), 200)], (
            "others than the oldest went"
        )
        assert 10 < len(turns) < 60
        assert not await journal.verify()
        kept = sum([len(entry.model_dump_json()) async for entry in journal.query(JournalQuery())])
        assert kept < 256 * KIB
    assert config.path.stat().st_size < 2 * 256 * KIB
    async with SqliteJournal.open(config) as journal:
        assert not await journal.verify(), "it does not hold after closing"
        await whole_turn(journal, "t200")
        assert not await journal.verify()


@pytest.mark.anyio
async def test_a_turn_that_is_open_is_kept_and_one_whose_writer_is_gone_is_not(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db", max_bytes=128 * KIB)
    async with SqliteJournal.open(config) as gone:
        await gone.append("lost", opened(), requested("c1"), started("c1"))
    async with SqliteJournal.open(config) as other, SqliteJournal.open(config) as journal:
        await other.append("elsewhere", opened(), requested("c1"), started("c1"))
        await journal.append("here", opened(), requested("c1"), started("c1"))
        for number in range(60):
            await whole_turn(journal, f"t{number}", outcome=output(4000))
        turns = [turn.turn for turn in await journal.turns(JournalQuery())]
        assert turns[:2] == ["elsewhere", "here"]
        assert "lost" not in turns
        await journal.append("here", settled("c1"))
        await other.append("elsewhere", settled("c1"))
        assert not await journal.verify()


@pytest.mark.anyio
async def test_t_95_large_values_are_files_by_digest_that_equal_values_share(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db", value_bytes=4 * KIB)
    async with SqliteJournal.open(config) as journal:
        await whole_turn(journal, "small", outcome=output(100))
        assert value_files(config) == []
        await whole_turn(journal, "large", calls=3, outcome=output(100_000))
        (file,) = value_files(config)
        assert file.stat().st_size > 100_000
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        entries = await journal.read("large")
        outcomes = [entry.record.outcome for entry in entries if entry.record.kind == "settled"]
        assert outcomes == [output(100_000)] * 3
        assert not await journal.verify()
    assert stat.S_IMODE(config.path.stat().st_mode) == 0o600
    assert config.path.stat().st_size < 100_000


@pytest.mark.anyio
async def test_files_of_forgotten_values_are_removed_when_nobody_needs_them(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db", value_bytes=4 * KIB, max_bytes=200 * KIB)
    async with SqliteJournal.open(config) as journal:
        shared = Completed(value="s" * 10_000)
        await whole_turn(journal, "first", outcome=shared)
        for number in range(40):
            await whole_turn(journal, f"t{number}", outcome=Completed(value=f"{number:05}" * 4000))
            await whole_turn(journal, f"s{number}", outcome=shared)
        kept = [turn.turn for turn in await journal.turns(JournalQuery())]
        assert "first" not in kept
        own = [turn for turn in kept if turn.startswith("t")]
        assert len(value_files(config)) == len(own) + 1, (
            "a file is left behind, or one that is needed is gone"
        )
        assert not await journal.verify()
