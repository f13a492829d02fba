"""Durable jobs: found again by id when the host comes back."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from test_host_running import ACCESS, BASE, Yes

from seam.host import Host
from seam.tools_def import outcome_text

pytestmark = pytest.mark.anyio

DURABLE = BASE.replace(
    '[implement.jobs]\nuse = "local"', '[implement.jobs]\nuse = "local"\nfolder = "jobs"'
).replace("[consume.exec-tool]", '[consume.exec-tool]\nbackground = "durable"')

HOST = """
import sys, anyio
sys.path[:0] = [{tests!r}]
from test_host_running import ACCESS, Yes
from seam.host import Host

async def main():
    async with Host.open({path!r}) as host:
        async with host.turns.open("default", session="s1", access=ACCESS, approval=Yes()) as turn:
            await turn.call("shell", {{"command": {command!r}, "background": True}})
        await host.turns.end_session("default", "s1")

anyio.run(main)
"""


def start_in_another_host(path: Path, command: str) -> None:
    """A host that starts a job and is gone."""
    code = HOST.format(tests=str(Path(__file__).parent), path=str(path), command=command)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


async def test_a_durable_job_outlives_its_host_and_is_found_read_and_ended(tmp_path: Path) -> None:
    path = tmp_path / "seam.toml"
    path.write_text(DURABLE)
    start_in_another_host(
        path, "echo before; while [ ! -e go ]; do sleep 0.05; done; echo after; exec sleep 1000"
    )
    async with (
        Host.open(path) as host,
        host.turns.open("default", session="another", access=ACCESS, approval=Yes()) as turn,
    ):
        assert "j1: running" in outcome_text(await turn.call("job_list", {}))
        assert "before" in outcome_text(await turn.call("job_read", {"job": "j1", "cursor": 0}))
        (tmp_path / "go").touch()
        await turn.call("job_wait", {"jobs": ["j1"], "timeout": 20, "cursor": 7})
        assert "after" in outcome_text(await turn.call("job_read", {"job": "j1", "cursor": 7}))
        assert "j1: stopped" in outcome_text(await turn.call("job_stop", {"job": "j1"}))
    left = [p for p in psutil.process_iter(["cwd"]) if p.info["cwd"] == str(tmp_path)]
    assert left == []


async def test_the_exit_code_of_a_job_that_ended_in_between_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "seam.toml"
    path.write_text(DURABLE)
    start_in_another_host(path, "exit 7")
    deadline = time.monotonic() + 20
    while [
        p for p in psutil.process_iter(["cwd"]) if p.info["cwd"] == str(tmp_path)
    ] and time.monotonic() < deadline:
        time.sleep(0.02)
    async with (
        Host.open(path) as host,
        host.turns.open("default", session="another", access=ACCESS, approval=Yes()) as turn,
    ):
        await turn.call("job_wait", {"jobs": ["j1"], "timeout": 20})
        assert "j1: exited with code 7" in outcome_text(await turn.call("job_list", {}))


async def test_without_a_folder_for_records_it_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    path = tmp_path / "seam.toml"
    path.write_text(DURABLE.replace('folder = "jobs"\n', ""))
    async with (
        Host.open(path) as host,
        host.turns.open("default", session="s", access=ACCESS, approval=Yes()) as turn,
    ):
        text = outcome_text(await turn.call("shell", {"command": "sleep 1000", "background": True}))
        assert "set `folder` in [implement.jobs]" in text
