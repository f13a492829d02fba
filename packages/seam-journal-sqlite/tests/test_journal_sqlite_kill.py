"""A writer that is killed at any moment loses nothing that was acknowledged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from journal_sqlite_story import closed, opened, requested, started

from seam.journal_sqlite import SqliteJournal, SqliteJournalConfig
from seam.tools_def import JournalQuery

HERE = Path(__file__).parent
SEED = 20260917
NO_BOUND = 1 << 40


@contextmanager
def farm(file: Path, rounds: int, max_bytes: int) -> Generator[Iterator[list[tuple[str, int, str]]]]:
    """Rounds of writing and killing; each gives what was acknowledged before the kill: turn, sequence, hash."""
    environment = {**os.environ, "PYTHONPATH": str(HERE), "FARM_BYTES": str(max_bytes)}
    with subprocess.Popen(
        [sys.executable, str(HERE / "journal_sqlite_farm.py"), str(file), str(SEED), str(rounds)],
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdout is not None

        def acknowledged() -> Iterator[list[tuple[str, int, str]]]:
            for line in process.stdout or ():
                parts = [told.split(" ") for told in json.loads(line)]
                yield [(turn, int(sequence), hashed) for turn, sequence, hashed in parts]

        yield acknowledged()
        assert process.wait(60) == 0


async def check(config: SqliteJournalConfig, told: list[tuple[str, int, str]], round_: int) -> None:
    """Everything acknowledged is there, the chains hold, what was started and not settled is unknown."""
    async with SqliteJournal.open(config) as journal:
        kept: dict[tuple[str, int], str] = {}
        running: dict[str, set[str]] = {}
        for turn in {turn for turn, _, _ in told}:
            for entry in await journal.read(turn):
                kept[entry.turn, entry.sequence] = entry.hash
                call = str(getattr(entry.record, "call", ""))
                if entry.record.kind == "started":
                    running.setdefault(turn, set()).add(call)
                if entry.record.kind == "settled":
                    running[turn].discard(call)
        lost = [(turn, sequence) for turn, sequence, hashed in told if kept.get((turn, sequence)) != hashed]
        assert not lost, f"round {round_}: acknowledged and gone: {lost}"
        unknown = {
            (turn.turn, call) for turn in await journal.turns(JournalQuery()) for call in turn.unsettled
        }
        expected = {(turn, call) for turn, calls in running.items() for call in calls}
        assert {pair for pair in unknown if pair[0].startswith(f"r{round_}-")} >= expected
        assert not await journal.verify()


async def kill_and_look(file: Path, rounds: int) -> None:
    config = SqliteJournalConfig(path=file, value_bytes=2048, max_bytes=NO_BOUND)
    entries = 0
    seen = 0
    with farm(file, rounds, NO_BOUND) as acknowledged:
        for told in acknowledged:
            assert told, "a round acknowledged nothing"
            await check(config, told, seen)
            entries += len(told)
            seen += 1
    assert seen == rounds
    sys.stdout.write(f"seed {SEED}: {rounds} kills, {entries} acknowledged entries, none lost\n")


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the writers are processes; only the looking differs
async def test_t_94_nothing_acknowledged_is_lost_by_sigkill(tmp_path: Path) -> None:
    await kill_and_look(tmp_path / "journal.db", 12)


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_t_94_nothing_acknowledged_is_lost_by_200_sigkills(tmp_path: Path) -> None:
    await kill_and_look(tmp_path / "journal.db", 200)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_t_95_the_chain_holds_when_the_killed_were_forgetting(tmp_path: Path) -> None:
    """With a bound that is always passed, the kill meets the rotation as well."""
    bound = 64 * 1024
    config = SqliteJournalConfig(path=tmp_path / "journal.db", value_bytes=2048, max_bytes=bound)
    with farm(config.path, 12, bound) as acknowledged:
        for told in acknowledged:
            assert told
            async with SqliteJournal.open(config) as journal:
                assert not await journal.verify()
                # the newest of the round is still there, with its hash
                turn, sequence, hashed = told[-1]
                assert {entry.sequence: entry.hash for entry in await journal.read(turn)}[sequence] == hashed


@pytest.mark.anyio
async def test_pi_024_a_call_that_was_running_reads_as_unknown_and_the_session_goes_on(
    tmp_path: Path,
) -> None:
    config = SqliteJournalConfig(path=tmp_path / "journal.db")
    # one kill can fall between the end of every turn and the beginning of the next ones; a dozen do not
    with farm(config.path, 12, NO_BOUND) as acknowledged:
        for _ in acknowledged:
            pass
    async with SqliteJournal.open(config) as journal:
        lost = [turn for turn in await journal.turns(JournalQuery()) if turn.state == "open"]
        assert lost, "the killed process left no turn open"
        (turn, *_) = lost
        # another process closes what the dead one left, and works on
        await journal.append(
            turn.turn, closed().model_copy(update={"how": "failed", "reason": "its process is gone"})
        )
        (summary,) = await journal.turns(JournalQuery(turn=turn.turn))
        assert summary.state == "failed"
        assert summary.unsettled == turn.unsettled, "closing a turn settles no call"
        await journal.append("next", opened(), requested("c1"), started("c1"))
        assert not await journal.verify()
