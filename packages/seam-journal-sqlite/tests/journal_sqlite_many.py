"""Calls from several threads of one process. Run as a program: `journal_sqlite_many.py FILE PROCESS THREADS CALLS BYTES`."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import anyio
from journal_sqlite_story import closed, opened, output, requested, settled, started

from seam.journal_sqlite import SqliteJournal, SqliteJournalConfig


async def one_thread(file: Path, turn: str, calls: int, size: int) -> None:
    """A journal of this thread's own; its calls run side by side in one turn."""
    async with SqliteJournal.open(SqliteJournalConfig(path=file, busy_timeout=60)) as journal:
        await journal.append(turn, opened())

        async def call(name: str) -> None:
            await journal.append(turn, requested(name))
            await journal.append(turn, started(name))
            await journal.append(turn, settled(name, output(size, name[-1])))

        async with anyio.create_task_group() as tasks:
            for number in range(calls):
                tasks.start_soon(call, f"c{number}")
        await journal.append(turn, closed())


def main(file: str, process: str, threads: str, calls: str, size: str) -> None:
    running = [
        threading.Thread(
            target=anyio.run,
            args=(one_thread, Path(file), f"p{process}-{number}", int(calls), int(size)),
            kwargs={"backend": "trio" if number % 2 else "asyncio"},
        )
        for number in range(int(threads))
    ]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
