"""Claims about reload, doors and watching: T-81, T-85, T-86, T-87, KE-017."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
import watchfiles
from test_host_running import BASE, PING, deployment, turn, until

from seam.host import Host, HostStopped, ReloadOutcome, StopReport
from seam.tools_def import JournalQuery, outcome_text

pytestmark = pytest.mark.anyio


async def test_t_81_only_what_depends_on_a_changed_file_is_rebuilt(tmp_path: Path) -> None:
    path = deployment(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("one", "two"):
        (tools / f"{name}.py").write_text(PING.format(answer=1).replace("ping", name))
    async with Host.open(path) as host:
        before = set(host.living()[0].contents.instances.values())
        (tools / "one.py").write_text(PING.format(answer=2).replace("ping", "one"))
        outcome = await host.reload()
        assert outcome.rebuilt == ("tools/one.py",)
        after = set(host.living()[0].contents.instances.values())
        assert len(before & after) == len(before) - 1, "an unrelated plugin was set up again"


async def test_t_85_stop_waits_for_a_reload_in_flight(tmp_path: Path) -> None:
    path = deployment(tmp_path)
    outcomes: list[ReloadOutcome] = []
    async with Host.open(path) as host:
        host.subscribe(outcomes.append)
        (tmp_path / "tools").mkdir()
        (tmp_path / "tools" / "ping.py").write_text(PING.format(answer=1))
        refused: list[HostStopped] = []
        reports: list[StopReport] = []

        async def reload() -> None:
            try:
                await host.reload()
            except HostStopped as stopped:
                refused.append(stopped)

        async with anyio.create_task_group() as group:
            group.start_soon(reload)
            await anyio.lowlevel.checkpoint()
            reports.append(await host.stop())
        assert len(outcomes) + len(refused) == 1, (
            "a reload in flight is either published before the stop, or told of it"
        )
        assert [report.errors for report in reports] == [()]
        assert host.living() == ()


async def test_t_86_what_belongs_to_the_process_is_shared_by_generations_side_by_side(tmp_path: Path) -> None:
    text = BASE.replace('use = "memory"', 'use = "sqlite"\npath = "journal.db"')
    path = deployment(tmp_path, text)
    async with Host.open(path) as host, turn(host):
        journal = host.journal
        (tmp_path / "tools").mkdir()
        (tmp_path / "tools" / "ping.py").write_text(PING.format(answer=1))
        assert (await host.reload()).kind == "published"
        assert len(host.living()) == 2
        assert host.journal is journal
        path.write_text(text.replace("journal.db", "other.db"))
        outcome = await host.reload()
        assert outcome.kind == "restart"
        assert "restart" in outcome.problems[0]


async def test_t_87_a_door_opened_under_an_old_generation_serves_the_new_one(tmp_path: Path) -> None:
    path = deployment(tmp_path)
    async with Host.open(path) as host:
        door = host.turns
        (tmp_path / "tools").mkdir()
        (tmp_path / "tools" / "ping.py").write_text(PING.format(answer="new"))
        await host.reload()
        assert door is host.turns
        async with turn(host) as t:
            assert outcome_text(await t.call("ping", {})) == "new"


async def test_ke_017_where_the_system_gives_no_watches_files_are_polled_and_the_host_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = watchfiles.awatch

    def limited(*paths: Path, force_polling: bool | None = None, **more: object) -> AsyncIterator[object]:
        if not force_polling:
            raise OSError(28, "inotify watch limit reached")
        return real(*paths, force_polling=True, **more)  # pyright: ignore[reportArgumentType] - handed on as they came

    monkeypatch.setattr(watchfiles, "awatch", limited)
    outcomes: list[ReloadOutcome] = []
    async with Host.open(deployment(tmp_path), reload=True) as host:
        host.subscribe(outcomes.append)
        (tmp_path / "tools").mkdir()
        (tmp_path / "tools" / "ping.py").write_text(PING.format(answer=1))
        await until(outcomes, lambda outcome: "tools/ping.py" in outcome.rebuilt)
        topics = [
            e.record.topic async for e in host.journal.query(JournalQuery()) if e.record.kind == "noted"
        ]
        assert "reload.trouble" in topics
