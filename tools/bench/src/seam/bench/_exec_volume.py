"""A gigabyte of output, two hundred commands at once, a thousand that do nothing."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import time
from functools import partial

import anyio
import psutil

from seam.bench._executor import local_executor
from seam.bench._flood import MIB, Peak, plain_loop, source
from seam.bench.report import Row, compared
from seam.exec_def import ExecProcess, ExecRequest, OutputWindow, ShellExecutor

WINDOW = OutputWindow(head=MIB, tail=MIB, spill=0)


async def _foreground(executor: ShellExecutor, command: str, size: int, *, spill: bool) -> tuple[float, int]:
    window = WINDOW.model_copy(update={"spill": 2 * size if spill else 0})
    spec = executor.resolve(ExecRequest(command=command, timeout=3000.0, output=window))
    peak = Peak()
    seconds: list[float] = []
    async with anyio.create_task_group() as group:
        group.start_soon(peak.watch)
        began = time.perf_counter()
        result = await executor.run(spec)
        seconds.append(time.perf_counter() - began)
        group.cancel_scope.cancel()
        assert result.stdout.total == size, result
    return seconds[0], peak.bytes


def flood(backend: str, size: int) -> list[Row]:
    """Return throughput and memory of one large output, with and without a file."""
    rows: list[Row] = []
    for spill in (True, False):
        with source(size) as command:
            plain = min(plain_loop(command, spill=spill) for _ in range(3))
            found = anyio.run(partial(_floods, command, size, spill=spill), backend=backend)
        own, peak = min(seconds for seconds, _ in found), max(growth for _, growth in found)
        name = f"{size // MIB} MiB through run, {'file and digest' if spill else 'no file'}, {backend}"
        rows.append(compared(name, size / MIB / own, "MiB/s", "plain loop", size / MIB / plain, at_least=0.5))
        kept = (WINDOW.head + WINDOW.tail) / MIB
        rows.append(compared(f"{name}: growth of memory", peak / MIB, "MiB", "window", kept, at_most=3.0))
    return rows


async def _floods(command: list[str], size: int, *, spill: bool) -> list[tuple[float, int]]:
    async with local_executor() as executor:
        # what is imported or allocated once is not what is measured
        await executor.run(executor.resolve(ExecRequest(command="head -c 100000 /dev/zero", output=WINDOW)))
        return [await _foreground(executor, shlex.join(command), size, spill=spill) for _ in range(3)]


def crowd(count: int) -> list[Row]:
    """Return the wall time of many commands at once."""

    async def ours() -> float:
        async with local_executor() as executor:

            async def one() -> None:
                result = await executor.run(executor.resolve(ExecRequest(command="true")))
                assert result.success

            await one()
            began = time.perf_counter()
            async with anyio.create_task_group() as group:
                for _ in range(count):
                    group.start_soon(one)
            return time.perf_counter() - began

    async def bare() -> float:
        async def one() -> None:
            process = await asyncio.create_subprocess_exec(
                "bash", "-c", "true", stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            await process.communicate()

        await one()
        began = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(count)))
        return time.perf_counter() - began

    own, base = min(anyio.run(ours) for _ in range(3)), min(anyio.run(bare) for _ in range(3))
    return [compared(f"{count} commands at once, asyncio", own * 1e3, "ms", "bare asyncio", base * 1e3)]


def idlers(count: int) -> list[Row]:
    """Return what an idle command in the background costs the host."""

    async def measure() -> tuple[float, float]:
        async with local_executor() as executor:
            me = psutil.Process()
            warm = await executor.start(executor.resolve(ExecRequest(command="exec sleep 3600")))
            memory, descriptors = me.memory_info().rss, me.num_fds()
            processes: list[ExecProcess] = []
            for _ in range(count):
                processes.append(
                    await executor.start(executor.resolve(ExecRequest(command="exec sleep 3600")))
                )
            grown = (me.memory_info().rss - memory) / count
            opened = (me.num_fds() - descriptors) / count
            async with anyio.create_task_group() as group:
                for process in (warm, *processes):
                    group.start_soon(process.aclose)
            return grown, opened

    memory, descriptors = anyio.run(measure)
    return [
        Row(f"{count} idle background commands: memory of the host each", memory / 1024, "KiB"),
        Row(f"{count} idle background commands: descriptors of the host each", descriptors, "count"),
    ]
