"""Fill a small file system, make room, go on. Run as a program inside a file system of its own: `journal_sqlite_full_disk.py FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
from journal_sqlite_story import opened, output, settled

from seam.journal_sqlite import SqliteJournal, SqliteJournalConfig
from seam.tools_def import JournalUnavailable


async def main(folder: Path) -> None:
    filler = folder / "filler"
    filler.write_bytes(b"x" * 400_000)
    async with SqliteJournal.open(SqliteJournalConfig(path=folder / "journal.db")) as journal:
        acknowledged = len(await journal.append("t1", opened()))
        try:
            for number in range(1000):
                acknowledged += len(await journal.append("t1", settled(f"c{number}", output(5000))))
        except JournalUnavailable as error:
            sys.stdout.write(f"{error.facts['reason']}\n")
        assert len(await journal.read("t1")) == acknowledged, "another number than was acknowledged"
        filler.unlink()
        await journal.append("t1", settled("after", output(5000)))
        entries = await journal.read("t1")
        assert [entry.sequence for entry in entries] == list(range(acknowledged + 1))
        assert not await journal.verify()
    sys.stdout.write("went on\n")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
