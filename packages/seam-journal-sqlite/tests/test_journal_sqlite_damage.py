"""What is removed or changed shows, is named, and does not eat its neighbours."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from journal_sqlite_story import closed, opened, output, requested, settled, started, whole_turn

from seam.journal_sqlite import SqliteJournal, SqliteJournalConfig
from seam.tools_def import (
    Completed,
    Entry,
    Journal,
    JournalCorrupt,
    JournalQuery,
    JournalTooNew,
    Noted,
    Text,
    entry_hash,
    record_text,
)


def tamper(config: SqliteJournalConfig, statement: str, *parameters: object) -> None:
    with closing(sqlite3.connect(config.path, isolation_level=None)) as connection:
        assert connection.execute(statement, parameters).rowcount > 0


async def found(journal: Journal) -> list[str]:
    return [f"{damage.place}: {damage.problem}" for damage in await journal.verify()]


async def three_turns(journal: SqliteJournal) -> None:
    for turn in ("t1", "t2", "t3"):
        await whole_turn(journal, turn, outcome=Completed(value=turn))
    await journal.append("open", opened(), requested("c1"), started("c1"))


T2 = "turn = (SELECT ordinal FROM turns WHERE turn = CAST('t2' AS BLOB))"
TAMPERINGS = {
    "an entry removed": (f"DELETE FROM entries WHERE {T2} AND sequence = 1", "turn t2, sequence 1: was removed"),
    "the first entry removed": (f"DELETE FROM entries WHERE {T2} AND sequence = 0", "turn t2, sequence 0: was removed"),
    "the last entry removed": (f"DELETE FROM entries WHERE {T2} AND sequence = 4", "turn t2, sequence 4: was removed"),
    "a time changed": (f"UPDATE entries SET time = time + 1 WHERE {T2} AND sequence = 2", "turn t2, sequence 2: its"),
    "a record changed": (
        f"UPDATE entries SET record = replace(record, 'policy', 'nobody') WHERE {T2} AND sequence = 2",
        "turn t2, sequence 2: its content was changed",
    ),
    "two entries swapped": (
        f"UPDATE entries SET sequence = 10 - sequence WHERE {T2}",
        "turn t2, sequence 6: its content was changed",
    ),
    "a hash changed": (f"UPDATE entries SET hash = zeroblob(32) WHERE {T2} AND sequence = 2", "turn t2, sequence 3: is not"),
    "a column of another type": (f"UPDATE entries SET time = 'soon' WHERE {T2} AND sequence = 2", "cannot be read"),
    "a turn removed": ("DELETE FROM turns WHERE turn = CAST('t2' AS BLOB)", "turn t2: was removed"),
    "a turn renamed": ("UPDATE turns SET turn = CAST('tX' AS BLOB) WHERE turn = CAST('t2' AS BLOB)", "turn t2: was removed"),
    "a turn opened again": ("UPDATE turns SET state = 'open' WHERE turn = CAST('t2' AS BLOB)", "turn t2: the file chain"),
    "an anchor changed": ("UPDATE turns SET anchor = zeroblob(32) WHERE turn = CAST('t2' AS BLOB)", "turn t2: its anchor"),
    "a link removed": ("DELETE FROM links WHERE number = 3", "file chain, link 4: links before it were removed"),
    "the newest link removed": ("DELETE FROM links WHERE number = (SELECT max(number) FROM links)", "file chain, end: "),
    "a link changed": ("UPDATE links SET entries = 4 WHERE number = 4", "file chain, link 4: was changed"),
    "links taken from the front": (
        "UPDATE state SET base = 1, base_link = (SELECT link FROM links WHERE number = 1)",
        "file chain, beginning: links were removed from the front",
    ),
    "an entry added to an open turn": (
        "INSERT INTO entries SELECT id + 1, turn, sequence + 1, time, kind, call, tool, outcome, hash, hash, 0, record"
        " FROM entries ORDER BY id DESC LIMIT 1",
        "turn open, sequence 3: its content was changed",
    ),
}  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize("name", TAMPERINGS)
async def test_t_92_tampering_shows_and_is_named(name: str, tmp_path: Path) -> None:
    statement, expected = TAMPERINGS[name]
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    async with SqliteJournal.open(config) as journal:
        await three_turns(journal)
        assert await found(journal) == []
        tamper(config, statement)
        damage = await found(journal)
        assert any(expected in each for each in damage), damage
        (first,) = [e for e in await journal.read("t3") if e.record.kind == "settled"]
        assert first.record == settled("c0", Completed(value="t3")), "its neighbour is hurt"


def rewrite(config: SqliteJournalConfig, entries: list[Entry]) -> None:
    """Change a turn's settlement and build the turn's own chain anew, as somebody would who knows how."""
    previous = entries[0].previous
    with closing(sqlite3.connect(config.path, isolation_level=None)) as connection:
        for entry in entries:
            record = (
                settled("c0", Completed(value="forged")) if entry.record.kind == "settled" else entry.record
            )
            text = record_text(record)
            hashed = entry_hash(entry.turn, entry.sequence, entry.time, text, previous)
            connection.execute(
                f"UPDATE entries SET record = ?, previous = ?, hash = ? WHERE {T2} AND sequence = ?",
                (text, bytes.fromhex(previous[7:]), bytes.fromhex(hashed[7:]), entry.sequence),
            )
            previous = hashed
        connection.execute(
            "UPDATE turns SET head = ? WHERE turn = CAST('t2' AS BLOB)", (bytes.fromhex(previous[7:]),)
        )


@pytest.mark.anyio
async def test_t_92_a_closed_turn_that_is_rewritten_with_its_hashes_shows(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    async with SqliteJournal.open(config) as journal:
        await three_turns(journal)
        rewrite(config, list(await journal.read("t2")))
        assert await found(journal) == [
            "turn t2: was changed after it was closed: the file chain knows its end"
        ]


@pytest.mark.anyio
async def test_pi_021_a_run_of_nul_bytes_in_a_record_is_told_and_skips_nothing_else(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    async with SqliteJournal.open(config) as journal:
        await three_turns(journal)
        tamper(config, f"UPDATE entries SET record = CAST(zeroblob(300) AS TEXT) WHERE {T2} AND sequence = 2")
        entries = await journal.read("t2")
        assert [entry.sequence for entry in entries] == [0, 1, 2, 3, 4]
        note = entries[2].record
        assert isinstance(note, Noted)
        assert (note.topic, note.call) == ("journal.damaged", "c0")
        assert entries[3].record == settled("c0", Completed(value="t2"))
        assert len([entry async for entry in journal.query(JournalQuery())]) == 18
        assert any("turn t2, sequence 2" in each for each in await found(journal))


def page_of(file: Path, content: bytes) -> tuple[int, int]:
    """Offset and size of the page of a database that holds some bytes."""
    whole = file.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    return whole.index(content) // size * size, size


@pytest.mark.anyio
async def test_pi_021_a_page_of_nul_bytes_takes_its_own_entries_only(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    async with SqliteJournal.open(config) as journal:
        for number in range(60):
            await whole_turn(journal, f"t{number}", outcome=Completed(value=f"<{number}>" + "x" * 500))
    offset, size = page_of(config.path, b"<30>")
    with config.path.open("r+b") as file:
        file.seek(offset)
        file.write(b"\0" * size)
    async with SqliteJournal.open(config) as journal:
        entries = [entry async for entry in journal.query(JournalQuery())]
        assert len(entries) == 300, "entries vanished in silence"
        damaged = [
            (e.turn, e.sequence) for e in entries if getattr(e.record, "topic", "") == "journal.damaged"
        ]
        assert 1 <= len(damaged) <= 20
        assert ("t30", 3) in damaged
        places = " ".join(await found(journal))
        assert all(f"turn {turn}, sequence {sequence}:" in places for turn, sequence in damaged), (
            damaged,
            places,
        )
        assert [e.record.kind for e in await journal.read("t59")][-1] == "turn_closed"
        assert len(await journal.read("t30")) == 5


@pytest.mark.anyio
async def test_t_92_a_changed_or_lost_value_file_is_told_and_the_rest_of_the_record_is_read(
    tmp_path: Path,
) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db", value_bytes=4096)
    async with SqliteJournal.open(config) as journal:
        await whole_turn(journal, "lost", outcome=output(10_000, "l"))
        await whole_turn(journal, "changed", outcome=output(10_000, "c"))
        wide = tuple(Text(text="w" * 1000) for _ in range(20))
        await whole_turn(journal, "content", outcome=Completed(value=1, content=wide))
        for file in (tmp_path / "journal.db.d" / "values").iterdir():
            if "lll" in file.read_text() or "www" in file.read_text():
                file.unlink()
            else:
                file.write_text('{"stdout":"forged"}')
        damage = await found(journal)
        assert len(damage) == 3
        for turn in ("lost", "changed", "content"):
            assert any(f"turn {turn}, sequence 3" in each for each in damage)
            record = (await journal.read(turn))[3].record
            assert record.kind == "settled", "the rest of the record was thrown away"
        assert "lost" in str((await journal.read("lost"))[3].record)
        assert "forged" not in str((await journal.read("changed"))[3].record)


@pytest.mark.anyio
@pytest.mark.parametrize("left", [100, 4096 + 100, 20_000])
async def test_a_truncated_file_is_corrupt_not_empty(left: int, tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    async with SqliteJournal.open(config) as journal:
        for number in range(30):
            await whole_turn(journal, f"t{number}", outcome=output(500))
    with config.path.open("r+b") as file:
        file.truncate(left)
    with pytest.raises(JournalCorrupt) as raised:
        async with SqliteJournal.open(config) as journal:
            assert await found(journal)
            await journal.append("new", opened())
            raise JournalCorrupt("told by verify")
    assert raised.value.code == "JOURNAL_CORRUPT"


@pytest.mark.anyio
async def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("Remember the milk.\n" * 100)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE songs (title)")
    for file in (text, other):
        before = file.read_bytes()
        with pytest.raises(JournalCorrupt, match=re.escape(str(file))):
            async with SqliteJournal.open(SqliteJournalConfig(path=file)):
                pass
        assert file.read_bytes() == before


@pytest.mark.anyio
async def test_t_93_a_newer_format_is_refused_by_name(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    async with SqliteJournal.open(config) as journal:
        await three_turns(journal)
    with closing(sqlite3.connect(config.path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(JournalTooNew) as raised:
        async with SqliteJournal.open(config):
            pass
    assert (raised.value.facts["found"], raised.value.facts["supported"]) == (99, 1)


@pytest.mark.anyio
async def test_t_93_a_record_of_a_newer_version_is_told_and_its_chain_holds(tmp_path: Path) -> None:
    """A newer seam-tools-def may write a kind of record that this one does not know, in the same format."""
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    async with SqliteJournal.open(config) as journal:
        await journal.append(
            "t1", opened(), Noted.model_construct(kind="levitated", topic="x", text="y"), closed()
        )  # pyright: ignore[reportArgumentType] - as a newer version would
        kinds = [entry.record.kind for entry in await journal.read("t1")]
        assert kinds == ["turn_opened", "noted", "turn_closed"]
        assert await found(journal) == []
