"""One `true`: how long until its result is there."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence

import anyio

from seam.bench import _posix_spawn
from seam.bench._executor import local_executor
from seam.bench.report import Row, compared, median, percentile
from seam.exec_def import ExecRequest, ShellExecutor

TRUE = ["bash", "-c", "true"]
BASELINE = "subprocess.run"
GOAL = 1.10

Way = Callable[[], Awaitable[object]]


def _blocking() -> None:
    subprocess.run(TRUE, capture_output=True, check=True)


async def blocking_way() -> None:
    _blocking()  # blocks the loop, as whoever calls it does


async def asyncio_way() -> None:
    process = await asyncio.create_subprocess_exec(*TRUE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    await process.communicate()


async def anyio_way() -> None:
    await anyio.run_process(TRUE)


async def sampled(ways: dict[str, Way], rounds: int) -> dict[str, list[float]]:
    """Run each way in turn, `rounds` times: what disturbs the machine disturbs all of them."""
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        for _ in range(min(rounds, 10)):
            await way()
    gc.collect()
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            await way()
            samples[name].append(time.perf_counter() - began)
    return samples


def _ways(executor: ShellExecutor, backend: str) -> dict[str, Way]:
    async def run() -> None:
        await executor.run(executor.resolve(ExecRequest(command="true")))

    async def start_and_wait() -> None:
        async with await executor.start(executor.resolve(ExecRequest(command="true"))) as process:
            await process.wait()

    ways: dict[str, Way] = {BASELINE: blocking_way, "run": run, "start and wait": start_and_wait}
    ways[f"anyio.run_process on {backend}"] = anyio_way
    if backend == "asyncio":
        ways["asyncio.create_subprocess_exec"] = asyncio_way
    return ways


def _ours(name: str) -> bool:
    return name in ("run", "start and wait")


def on(backend: str, rounds: int) -> list[Row]:
    """Return the rows of one event loop."""

    async def measure() -> dict[str, list[float]]:
        async with local_executor() as executor:
            return await sampled(_ways(executor, backend), rounds)

    samples = anyio.run(measure, backend=backend)
    rows: list[Row] = []
    for name, seconds in samples.items():
        if name == BASELINE:
            continue
        title = f"exec-local {name}, {backend}" if _ours(name) else name
        for part, at in (("p10", 0.1), ("p50", 0.5), ("p95", 0.95)):
            goal = GOAL if _ours(name) and part == "p50" else None
            own, base = percentile(seconds, at), percentile(samples[BASELINE], at)
            rows.append(compared(f"{title}, {part}", own * 1e3, "ms", BASELINE, base * 1e3, at_most=goal))
    return rows


def levels(rounds: int) -> list[Row]:
    """Return a row for each level of containment that this machine has."""
    rows: list[Row] = []
    for level in ("launcher", "server", "scan"):
        samples = _at_level(level, rounds)
        if samples is not None:
            own, base = median(samples["run"]), median(samples[BASELINE])
            name = f"exec-local run, containment {level}, p50"
            rows.append(compared(name, own * 1e3, "ms", BASELINE, base * 1e3))
    return rows


def _at_level(level: str, rounds: int) -> dict[str, list[float]] | None:
    async def measure() -> dict[str, list[float]]:
        async with local_executor(level) as executor:
            ways = _ways(executor, "asyncio")
            return await sampled({name: ways[name] for name in (BASELINE, "run")}, rounds)

    try:
        return anyio.run(measure)
    except ExceptionGroup as problem:
        print(f"containment level {level!r} is not measured: {problem.exceptions[0]}", file=sys.stderr)
        return None


def floor(rounds: int) -> Sequence[Row]:
    """Return what a C program needs for the same."""
    seconds = _posix_spawn.seconds(rounds)
    if seconds is None:
        print("no C compiler here: the row of posix_spawn is left out", file=sys.stderr)
        return []

    async def base() -> list[float]:
        return (await sampled({BASELINE: blocking_way}, rounds))[BASELINE]

    baseline = median(anyio.run(base)) * 1e3
    return [
        compared("C program, posix_spawn, one pipe, p50", median(seconds) * 1e3, "ms", BASELINE, baseline)
    ]
