"""Calls run all the time; a bad edit changes nothing, a good one takes over, no turn is broken, and the journal has it all.

`python test_integration_reload_under_load.py FOLDER` prints the story instead.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import anyio
import pytest

from seam.host import Host, ReloadOutcome
from seam.tools_def import Access, JournalQuery

DEPLOYMENT = """
[seam]
debounce = "50ms"
[agents.default]
workspace = "."
[implement.tools]
use = "runtime"
[process.journal]
use = "sqlite"
path = "journal.db"
"""
TOOL = '''
import anyio
from seam.tools_def import effects, tool

@tool(effects=effects(), concurrency="parallel")
async def work(number: int) -> str:
    """Work for a moment."""
    await anyio.sleep(0.02)
    return "version {version}"
'''
CALLERS = 8
CALLS_OF_A_TURN = 3


class Load:
    """Turns of several sessions, one after another, until it is told to stop."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.answers: Counter[str] = Counter()
        self.turns = 0
        self.stopping = False

    async def caller(self, number: int) -> None:
        access = Access(principal="load", platform="tests")
        while not self.stopping:
            async with self._host.turns.open("default", session=f"s{number}", access=access) as turn:
                self.turns += 1
                for _ in range(CALLS_OF_A_TURN):
                    outcome = await turn.call("work", {"number": number})
                    self.answers[str(outcome.value) if outcome.kind == "completed" else outcome.kind] += 1

    async def answered(self, answer: str, more: int) -> None:
        """Wait until so many more calls got this answer."""
        wanted = self.answers[answer] + more
        with anyio.fail_after(30):
            while self.answers[answer] < wanted:
                await anyio.sleep(0.01)


async def story(folder: Path, tell: list[str]) -> None:
    """Run it; `tell` receives a line for each thing that happened."""
    (folder / "tools").mkdir(parents=True)
    (folder / "seam.toml").write_text(DEPLOYMENT)
    file = folder / "tools" / "work.py"
    file.write_text(TOOL.format(version=1))
    outcomes: list[ReloadOutcome] = []
    async with Host.open(folder / "seam.toml", reload=True) as host:
        host.subscribe(outcomes.append)
        load = Load(host)
        async with anyio.create_task_group() as group:
            for number in range(CALLERS):
                group.start_soon(load.caller, number)
            await load.answered("version 1", 50)
            file.write_text("def broken(:\n")
            await _reported(outcomes, 1)
            await load.answered("version 1", 50)
            file.write_text(TOOL.format(version=2))
            await _reported(outcomes, 2)
            await load.answered("version 2", 50)
            load.stopping = True
        for outcome in outcomes:
            problems = "; ".join(outcome.problems).replace(str(folder), "").split("\n")[0]
            tell.append(
                f"{outcome.kind}: generation {outcome.generation}, rebuilt {', '.join(outcome.rebuilt) or 'nothing'}, "
                f"carried over {', '.join(outcome.carried) or 'nothing'}{': ' if problems else ''}{problems}"
            )
        tell.append(f"{load.turns} turns, answers: {dict(sorted(load.answers.items()))}")
        kinds: Counter[str] = Counter()
        async for entry in host.journal.query(JournalQuery()):
            record = entry.record
            kinds[f"noted {record.topic}" if record.kind == "noted" else record.kind] += 1
        tell.append(f"journal: {dict(sorted(kinds.items()))}")
        damages = [str(damage) for damage in await host.journal.verify()]
        tell.append(f"verify: {damages or 'every chain is whole'}")


async def _reported(outcomes: list[ReloadOutcome], count: int) -> None:
    with anyio.fail_after(30):
        while len(outcomes) < count:
            await anyio.sleep(0.01)


def _calls(answers: str) -> int:
    turns = int(answers.split(maxsplit=1)[0])
    return turns * CALLS_OF_A_TURN


@pytest.mark.anyio
async def test_a_reload_under_load_breaks_no_turn(tmp_path: Path) -> None:
    tell: list[str] = []
    await story(tmp_path, tell)
    refused, published, answers, journal, verified = tell
    assert refused.startswith("refused: generation 1")
    assert "SyntaxError" in refused
    assert published.startswith(
        "published: generation 2, rebuilt tools/work.py, carried over implement.tools"
    )
    assert "'version 1'" in answers
    assert "'version 2'" in answers
    assert "refused" not in answers
    assert "cancelled" not in answers
    for kind in ("requested", "decided", "started", "settled"):
        assert f"'{kind}': {_calls(answers)}" in journal
    assert "'noted reload.refused': 1" in journal
    assert "'noted generation.published': 2" in journal
    assert verified == "verify: every chain is whole"


if __name__ == "__main__":
    lines: list[str] = []
    anyio.run(story, Path(sys.argv[1]), lines)
    sys.stdout.write("\n".join(lines) + "\n")
