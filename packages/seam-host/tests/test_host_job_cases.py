"""Jobs over real processes: what other tools got wrong (JO-002, JO-005, JO-010, JO-014, JO-019)."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import psutil
import pytest
from test_host_running import BASE, deployment, turn

from seam.host import Host
from seam.tools_def import Completed, outcome_text

pytestmark = pytest.mark.anyio


def alive(folder: Path) -> list[psutil.Process]:
    return [p for p in psutil.process_iter(["cwd"]) if str(p.info["cwd"] or "").startswith(str(folder))]


async def test_jo_002_jo_010_a_job_that_never_stops_writing_is_bounded_and_quick_to_read(
    tmp_path: Path,
) -> None:
    text = BASE.replace("[consume.exec-tool]", "[consume.exec-tool]\nspill_bytes = 1000000")
    async with Host.open(deployment(tmp_path, text)) as host, turn(host) as t:
        before = psutil.Process().memory_info().rss
        await t.call("shell", {"command": "yes", "background": True})
        await t.call("job_wait", {"jobs": ["j1"], "timeout": 20, "cursor": 50_000_000})
        tail = await t.call("job_read", {"job": "j1"})
        assert isinstance(tail, Completed)
        assert isinstance(tail.value, dict)
        assert int(str(tail.value["total"])) > 50_000_000
        assert outcome_text(tail).endswith("y") or "y\ny" in outcome_text(tail)
        spill = tail.value["spill"]
        assert isinstance(spill, str)
        assert Path(spill).stat().st_size <= 1_000_000
        assert psutil.Process().memory_info().rss - before < 50_000_000
        await t.call("job_stop", {"job": "j1"})
    assert alive(tmp_path) == []


async def test_jo_005_stop_ends_the_whole_tree_and_nothing_starts_later(tmp_path: Path) -> None:
    command = "for i in 1 2 3 4 5; do timeout 60 python3 -c 'import time; print(1, flush=True); time.sleep(60)'; done"
    async with Host.open(deployment(tmp_path)) as host, turn(host) as t:
        await t.call("shell", {"command": command, "background": True})
        await t.call("job_wait", {"jobs": ["j1"], "timeout": 20, "cursor": 0})
        assert len(alive(tmp_path)) >= 3
        assert "j1: stopped" in outcome_text(await t.call("job_stop", {"job": "j1"}))
        assert alive(tmp_path) == []


async def test_jo_019_a_disowned_child_leaves_no_zombie(tmp_path: Path) -> None:
    async with Host.open(deployment(tmp_path)) as host, turn(host) as t:
        await t.call("shell", {"command": 'bash -c "sleep 0.2 & disown"', "background": True})
        await t.call("job_wait", {"jobs": ["j1"], "timeout": 20})
        await t.call("job_stop", {"job": "j1"})
        zombies = [c for c in psutil.Process().children(recursive=True) if c.status() == psutil.STATUS_ZOMBIE]
        assert zombies == []


SUPERVISOR = "seam-launcher"
SPARES = 10
"""Eight that stay, one that does not, and the server."""


async def test_jo_014_sessions_with_jobs_come_and_go_without_leaving_descriptors_or_children(
    tmp_path: Path,
) -> None:
    settled = (0, 0)
    async with Host.open(deployment(tmp_path)) as host:
        for number in range(12):
            async with turn(host, session=f"s{number}") as t:
                await t.call("shell", {"command": "sleep 1000", "background": True})
            await host.turns.end_session("default", f"s{number}")
            if number == 1:
                settled = await _fewest()
        assert await _fewest() <= settled, "descriptors or children grow with each session"


async def _fewest() -> tuple[int, int]:
    """The lowest counts of children and descriptors within half a second."""
    seen: list[tuple[int, int]] = []
    for _ in range(25):
        children = [child.name() for child in psutil.Process().children(recursive=True)]
        # supervisors stand by for the next command: some, but not one more for each session
        assert children.count(SUPERVISOR) <= SPARES
        seen.append((len(children) - children.count(SUPERVISOR), len(os.listdir("/proc/self/fd"))))
        await anyio.sleep(0.02)
    return min(seen)
