"""Durable calls a second: the SQLite journal with group commit, against sqlite3 called bare in a loop."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from seam.bench.report import Row, Subject, compared, median, run_subjects

if TYPE_CHECKING:
    from seam.tools_def import Record

ROUNDS = 3
SIDE_BY_SIDE = (1, 16, 64, 256)
"""How many turns call at the same time."""
AT_LEAST = 3000
"""Durable calls a second that are aimed at, with many turns side by side."""

BARE = """
CREATE TABLE entries (id INTEGER PRIMARY KEY, turn TEXT, sequence INTEGER, record TEXT);
CREATE UNIQUE INDEX entries_by_place ON entries (turn, sequence);
"""


def records(call: str) -> tuple[tuple[Record, ...], ...]:
    """What one call of a no-op tool leaves: three appends, four records, as the chain writes them."""
    from seam.tools_def import CallDecided, CallRequested, CallSettled, CallStarted, Completed, Text

    digest = "sha256:" + "b" * 64
    return (
        (CallRequested(call=call, tool="noop", arguments={"a": 1}, descriptor=digest, source="plugin:noop"),),
        (
            CallDecided(call=call, verdict="allow", by="effects", reason="no effect outside", digest=digest),
            CallStarted(
                call=call, digest=digest, actions=(), summary="noop a=1", allowed_by="effects", deadline=60
            ),
        ),
        (
            CallSettled(
                call=call,
                tool="noop",
                outcome=Completed(value=1, content=(Text(text="1"),)),
                ran=True,
                seconds=0.001,
            ),
        ),
    )


async def _journal(folder: Path, calls: int, turns: int) -> float:
    from seam.journal_sqlite import SqliteJournal, SqliteJournalConfig

    async with SqliteJournal.open(SqliteJournalConfig(path=folder / "journal.db")) as journal:

        async def turn(name: str) -> None:
            for number in range(calls // turns):
                for append in records(f"c{number}"):
                    await journal.append(name, *append)

        started = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for number in range(turns):
                tasks.start_soon(turn, f"t{number}")
        return time.perf_counter() - started


def _bare(folder: Path, calls: int, texts: Sequence[Sequence[str]]) -> float:
    """The same records as text, one transaction for each append, with the same durability; no chain, no queries, one turn."""
    with closing(sqlite3.connect(folder / "bare.db", isolation_level=None)) as connection:
        connection.executescript(BARE)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        started = time.perf_counter()
        sequence = 0
        for _ in range(calls):
            for append in texts:
                connection.execute("BEGIN IMMEDIATE")
                for text in append:
                    connection.execute(
                        "INSERT INTO entries (turn, sequence, record) VALUES ('t', ?, ?)", (sequence, text)
                    )
                    sequence += 1
                connection.execute("COMMIT")
        return time.perf_counter() - started


def _calls_a_second(work: Callable[[Path], float], calls: int, rounds: int) -> float:
    found: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="bench-journal-") as folder:
            found.append(calls / work(Path(folder)))
    return median(found)


def measure(smoke: bool) -> Sequence[Row]:
    """Calls a second, and how they compare."""
    from seam.tools_def import record_text

    rounds = 1 if smoke else ROUNDS
    texts = [[record_text(record) for record in append] for append in records("c1")]
    few = 30 if smoke else 500
    bare = _calls_a_second(lambda folder: _bare(folder, few, texts), few, rounds)
    rows: list[Row] = []
    for turns in SIDE_BY_SIDE:
        calls = max(few, turns) if smoke or turns == 1 else 8000
        calls -= calls % turns
        speed = _calls_a_second(partial(_run, calls, turns), calls, rounds)
        row = compared(
            f"durable calls a second, {turns} turns side by side",
            speed,
            "calls/s",
            "sqlite3 bare, one loop",
            bare,
        )
        rows.append(_with_goal(row) if turns == SIDE_BY_SIDE[-1] else row)
    return rows


def _run(calls: int, turns: int, folder: Path) -> float:
    return anyio.run(_journal, folder, calls, turns)


def _with_goal(row: Row) -> Row:
    return Row(
        row.name,
        row.value,
        row.unit,
        row.baseline,
        row.baseline_value,
        row.ratio,
        f">= {AT_LEAST} calls/s",
        row.value >= AT_LEAST,
    )


SUBJECT = Subject(
    "journal",
    "a call is durable when the WAL's fsync returned (synchronous=FULL); three appends, four records a call",
    measure,
)

if __name__ == "__main__":
    raise SystemExit(run_subjects([SUBJECT]))
