"""Processes that write to one journal and are killed at random moments. Run as a program: `journal_sqlite_farm.py FILE SEED ROUNDS`.

One process imports everything and forks a writer for each round (it has no threads then), so that a round takes some
milliseconds. A writer tells each acknowledged entry over a pipe; what a round acknowledged is one line of JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import anyio
from journal_sqlite_story import closed, opened, output, requested, settled, started

from seam.journal_sqlite import SqliteJournal, SqliteJournalConfig
from seam.tools_def import Entry

TURNS = 6
LONGEST = 0.12
"""Seconds after the first acknowledged entry by which a writer is killed at the latest."""


async def write(config: SqliteJournalConfig, round_: int, pipe: int) -> None:
    """Write turns without end, telling each acknowledged entry."""
    async with SqliteJournal.open(config) as journal, anyio.create_task_group() as turns:

        def tell(entries: tuple[Entry, ...]) -> None:
            for entry in entries:
                os.write(pipe, f"{entry.turn} {entry.sequence} {entry.hash}\n".encode())

        async def turn(name: str) -> None:
            number = 0
            while True:
                of_its_own = f"{name}-{number}"
                tell(await journal.append(of_its_own, opened()))
                for call in ("c1", "c2"):
                    tell(await journal.append(of_its_own, requested(call), started(call)))
                    size = 3000 if number % 5 == 4 else 10
                    tell(await journal.append(of_its_own, settled(call, output(size, call[1]))))
                tell(await journal.append(of_its_own, closed()))
                number += 1

        for number in range(TURNS):
            turns.start_soon(turn, f"r{round_}-t{number}")


def one_round(config: SqliteJournalConfig, round_: int, chance: random.Random) -> list[str]:
    """Start a writer, kill it, and give what it acknowledged."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            anyio.run(write, config, round_, writing)
        finally:
            os._exit(1)  # it is killed before
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        first = told.read1(1 << 20)  # it writes: the journal is open
        time.sleep(chance.uniform(0, LONGEST))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"the writer ended by itself: {status}"
        lines = (first + told.read()).decode().split("\n")
    return [line for line in lines[:-1] if line]  # a line that was cut by the kill is no acknowledgement


def main(file: str, seed: str, rounds: str) -> None:
    chance = random.Random(int(seed))
    # small values and a small bound: value files are written, and turns forgotten, while it is killed
    config = SqliteJournalConfig(path=Path(file), value_bytes=2048, max_bytes=int(os.environ["FARM_BYTES"]))
    for round_ in range(int(rounds)):
        sys.stdout.write(json.dumps(one_round(config, round_, chance)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
