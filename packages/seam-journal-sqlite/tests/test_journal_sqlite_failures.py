"""A journal that cannot be written says so, appends nothing, and goes on when it can."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import anyio
import pytest
from journal_sqlite_story import closed, opened, output, requested, settled, started

from seam.journal_sqlite import SqliteJournal, SqliteJournalConfig
from seam.tools_def import Journal, JournalQuery, JournalUnavailable, Record

HERE = Path(__file__).parent


async def reason(journal: Journal, turn: str, *records: Record) -> str:
    """Why an append fails."""
    with pytest.raises(JournalUnavailable) as raised:
        await journal.append(turn, *records)
    return str(raised.value.facts["reason"])


async def opening(config: SqliteJournalConfig) -> str:
    """Why an opening fails."""
    with pytest.raises(JournalUnavailable) as raised:
        async with SqliteJournal.open(config):
            pass
    assert raised.value.facts["path"] == str(config.path)
    return str(raised.value.facts["reason"])


@pytest.mark.anyio
async def test_a_locked_journal_is_unavailable_and_nothing_is_appended(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db", busy_timeout=0.05)
    async with SqliteJournal.open(config) as journal:
        await journal.append("t1", opened())
        with closing(sqlite3.connect(config.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert "another process holds its lock" in await reason(journal, "t1", requested("c1"))
            async with anyio.create_task_group() as tasks:
                for number in range(5):  # together: each is told, none waits for ever
                    tasks.start_soon(reason, journal, "t1", requested(f"c{number}"))
            other.execute("ROLLBACK")
        await journal.append("t1", requested("c2"))
        assert [getattr(e.record, "call", "") for e in await journal.read("t1")] == ["", "c2"]
        assert not await journal.verify()


@pytest.mark.anyio
async def test_a_journal_that_somebody_holds_exclusively_is_not_opened(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db", busy_timeout=0.05)
    async with SqliteJournal.open(config):
        pass
    with closing(sqlite3.connect(config.path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        assert "another process holds its lock" in await opening(config)


@pytest.mark.anyio
async def test_the_bad_one_of_a_batch_fails_alone(tmp_path: Path) -> None:
    """A value that SQLite refuses for its size fails its own append only."""
    config = SqliteJournalConfig(path=tmp_path / "journal.db", value_bytes=50_000_000)
    async with SqliteJournal.open(config) as journal:
        journal._writer._ledger._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)  # pyright: ignore[reportPrivateUsage] - a bound that a test can reach
        await journal.append("t1", opened())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reason, journal, "t1", settled("huge", output(2_000_000)))
            for number in range(5):
                tasks.start_soon(journal.append, "t1", requested(f"c{number}"), started(f"c{number}"))
        entries = await journal.read("t1")
        assert [entry.sequence for entry in entries] == list(range(11))
        assert not await journal.verify()


@pytest.mark.anyio
async def test_a_full_database_is_told_and_it_goes_on_when_there_is_room(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    async with SqliteJournal.open(config) as journal:
        connection = journal._writer._ledger._connection  # pyright: ignore[reportPrivateUsage] - a bound that a test can reach
        await journal.append("t1", opened())
        connection.execute("PRAGMA max_page_count = 40")
        acknowledged = 1
        why = ""
        while not why:
            try:
                acknowledged += len(await journal.append("t1", settled("c", output(9000))))
            except JournalUnavailable as error:
                why = str(error.facts["reason"])
        assert "the disk is full" in why
        assert len(await journal.read("t1")) == acknowledged
        connection.execute("PRAGMA max_page_count = 100000")
        await journal.append("t1", closed())
        assert not await journal.verify()


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_full_file_system_is_told_and_it_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """A real one: a tmpfs of half a megabyte in a mount namespace of its own."""
    command = (
        f"mount -t tmpfs -o size=512k none {tmp_path} && "
        f"exec {sys.executable} {HERE / 'journal_sqlite_full_disk.py'} {tmp_path}"
    )
    unshare = shutil.which("unshare")
    probe = [unshare or "unshare", "-rm", "mount", "-t", "tmpfs", "none", str(tmp_path)]
    if unshare is None or subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        pytest.skip("no mount namespace for this user (unshare -rm)")
    ran = subprocess.run(
        [unshare, "-rm", "sh", "-c", command],
        env={**os.environ, "PYTHONPATH": str(HERE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    why, last = ran.stdout.splitlines()
    assert "full" in why
    assert last == "went on"


@contextmanager
def files_at_most(size: int) -> Generator[None]:
    """No file of this process may grow beyond some bytes (setrlimit(2), RLIMIT_FSIZE; Python ignores the signal)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.anyio
async def test_a_value_file_that_cannot_be_written_fails_its_append_and_is_not_left(tmp_path: Path) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db", value_bytes=4096)
    async with SqliteJournal.open(config) as journal:
        await journal.append("t1", opened())
        with files_at_most(5_000_000):
            why = await reason(journal, "t1", settled("c1", output(6_000_000)))
        assert "a large value cannot be written" in why
        assert list((tmp_path / "journal.db.d" / "values").iterdir()) == []
        await journal.append("t1", settled("c1", output(6_000_000)))
        assert [entry.sequence for entry in await journal.read("t1")] == [0, 1]


@contextmanager
def as_nobody() -> Generator[Path]:
    """A folder, and no privileges that overrule permissions, also where the tests run as root."""
    with tempfile.TemporaryDirectory(prefix="journal-") as folder:
        root = os.geteuid() == 0
        if root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            if root:
                os.seteuid(0)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_read_only_file_and_folder_are_told(tmp_path: Path) -> None:
    with as_nobody() as folder:
        config = SqliteJournalConfig(path=folder / "journal.db")
        async with SqliteJournal.open(config) as journal:
            await journal.append("t1", opened())
        config.path.chmod(stat.S_IRUSR)
        assert "read-only" in await opening(config)
        config.path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
        elsewhere = SqliteJournalConfig(path=folder / "other.db")
        assert "cannot be made" in await opening(elsewhere)
        folder.chmod(stat.S_IRWXU)
        async with SqliteJournal.open(config) as journal:
            assert len(await journal.read("t1")) == 1


@pytest.mark.anyio
async def test_something_else_at_its_path_is_told_and_never_waited_for(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").touch()
    with anyio.fail_after(30):
        for name in ("folder", "fifo"):
            assert "not a regular file" in await opening(SqliteJournalConfig(path=tmp_path / name))
        assert "folder cannot be made" in await opening(SqliteJournalConfig(path=tmp_path / "file" / "j.db"))


@pytest.mark.anyio
async def test_a_closed_journal_is_unavailable_and_what_was_handed_over_before_is_kept(
    tmp_path: Path,
) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    async with SqliteJournal.open(config) as journal:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                for number in range(50):
                    tasks.start_soon(journal.append, f"t{number}", opened(), requested("c1"))
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
    assert "closed" in await reason(journal, "t1", opened())
    async with SqliteJournal.open(config) as journal:
        turns = await journal.turns(JournalQuery())
        assert all(turn.entries == 2 for turn in turns)
        assert not await journal.verify()


@pytest.mark.anyio
async def test_a_writer_that_breaks_tells_everybody_who_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(requests: object) -> None:
        raise ZeroDivisionError("a bug")

    journal: SqliteJournal | None = None
    with pytest.raises(ZeroDivisionError), anyio.fail_after(30):
        async with SqliteJournal.open(SqliteJournalConfig(path=tmp_path / "journal.db")) as journal:
            monkeypatch.setattr(journal._writer._ledger, "commit", broken)  # pyright: ignore[reportPrivateUsage] - a bug, made
            assert "its writer ended" in await reason(journal, "t1", opened())
            assert "closed" in await reason(journal, "t1", opened())


@pytest.mark.anyio
async def test_sqlite_waits_for_the_disk_before_a_commit_returns(tmp_path: Path) -> None:
    """What durability says: WAL with synchronous=FULL, asked of SQLite itself."""
    async with SqliteJournal.open(SqliteJournalConfig(path=tmp_path / "journal.db")) as journal:
        connection = journal._writer._ledger._connection  # pyright: ignore[reportPrivateUsage] - its settings are the point
        assert connection.execute("PRAGMA journal_mode").fetchone() == (b"wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert "fsync" in journal.durability
