"""Jobs: from the start to the first byte, what a running one costs, and reading one beside many."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
from pydantic import JsonValue

from seam.bench._exec_latency import sampled
from seam.bench.report import Row, Subject, compared, median, run_subjects
from seam.tools_def import Turn

BARE = "asyncio, first byte"
DEPLOYMENT = """
[agents.default]
workspace = "."
[implement.subprocess]
use = "local"
[implement.exec]
use = "local"
[implement.tools]
use = "runtime"
[implement.jobs]
use = "local"
running_limit = 2000
[consume.exec-tool]
[consume.jobs-tool]
[process.journal]
use = "memory"
"""
PRINTS = "echo up; exec sleep 3600"


@asynccontextmanager
async def _turn() -> AsyncGenerator[Turn]:
    from seam.host import Host
    from seam.tools_def import Access, ApprovalAnswer, ApprovalPort, ApprovalRequest, Approve

    class Yes(ApprovalPort):
        async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
            return Approve(by="bench")

    with tempfile.TemporaryDirectory(prefix="seam-bench-") as folder:
        path = Path(folder, "deployment.toml")
        path.write_text(DEPLOYMENT, "utf-8")  # noqa: ASYNC240 - before anything is measured
        access = Access(principal="bench", platform="bench")
        async with (
            Host.open(path) as host,
            host.turns.open("default", session="bench", access=access, approval=Yes()) as turn,
        ):
            yield turn


async def _call(turn: Turn, tool: str, **arguments: JsonValue) -> dict[str, object]:
    outcome = await turn.call(tool, arguments)
    assert outcome.kind == "completed", outcome
    assert isinstance(outcome.value, dict), outcome
    return {**outcome.value}


async def _first_byte(rounds: int) -> list[Row]:
    """From the start in the background to the first byte."""
    from seam.bench._executor import local_executor
    from seam.exec_def import ExecRequest

    processes: list[asyncio.subprocess.Process] = []

    async def bare() -> None:
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", PRINTS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        assert process.stdout is not None
        assert await process.stdout.read(1)
        processes.append(process)

    async with local_executor() as executor:
        started: list[object] = []

        async def job() -> None:
            process = await executor.start(executor.resolve(ExecRequest(command=PRINTS, streams="merged")))
            await process.wait_beyond(0)
            started.append(process)

        samples = await sampled({BARE: bare, "job": job}, rounds)
    for process in processes:
        process.kill()
        await process.communicate()
    own, base = median(samples["job"]) * 1e3, median(samples[BARE]) * 1e3
    return [compared("start in the background to the first byte, p50", own, "ms", BARE, base, at_most=1.5)]


async def _many(count: int) -> list[Row]:
    """Jobs that run, and reading one of few and of many."""
    async with _turn() as turn:
        me = psutil.Process()
        jobs = [await _start(turn) for _ in range(10)]
        few = await _reading(turn, jobs[0])
        memory, descriptors = me.memory_info().rss, me.num_fds()
        jobs += [await _start(turn) for _ in range(count - 10)]
        grown = (me.memory_info().rss - memory) / (count - 10) / 1024
        opened = (me.num_fds() - descriptors) / (count - 10)
        many = await _reading(turn, jobs[0])
    return [
        Row(f"{count} running jobs: memory of the host each", grown, "KiB"),
        Row(f"{count} running jobs: descriptors of the host each", opened, "count"),
        compared(f"read one job of {count}", many * 1e3, "ms", "read one of 10", few * 1e3),
    ]


async def _start(turn: Turn) -> str:
    return str((await _call(turn, "shell", command=PRINTS, background=True))["job"])


async def _reading(turn: Turn, job: str) -> float:
    found: list[float] = []
    for _ in range(50):
        began = time.perf_counter()
        await _call(turn, "job_read", job=job)
        found.append(time.perf_counter() - began)
    return median(found)


def measure(smoke: bool) -> Sequence[Row]:
    """All rows; with `smoke`, of one short round."""
    rows = anyio.run(_first_byte, 5 if smoke else 200)
    return [*rows, *anyio.run(_many, 20 if smoke else 1000)]


SUBJECT = Subject("jobs", "commands that go on in the background", measure)

if __name__ == "__main__":
    raise SystemExit(run_subjects([SUBJECT]))
