"""Much output, many processes."""

from __future__ import annotations

import asyncio
import subprocess
import time
from functools import partial

import anyio
import psutil

from seam.bench._flood import MIB, Peak, plain_loop, source
from seam.bench._subprocess_latency import spec
from seam.bench.report import Row, compared
from seam.subprocess_def import Collect, Null, Process, SpawnSpec, SubprocessRuntime
from seam.subprocess_local import open_runtime

WINDOWS = Collect(max_bytes=2 * MIB, head_bytes=MIB, spill_bytes=0)


async def _one_flood(runtime: SubprocessRuntime, wanted: SpawnSpec, size: int) -> tuple[float, int]:
    peak, seconds = Peak(), 0.0
    async with anyio.create_task_group() as group:
        group.start_soon(peak.watch)
        began = time.perf_counter()
        async with await runtime.spawn(wanted) as process:
            await process.wait()
            seconds = time.perf_counter() - began
            assert process.collected("stdout").total == size
        group.cancel_scope.cancel()
    return seconds, peak.bytes


async def _floods(command: list[str], size: int, *, spill: bool) -> list[tuple[float, int]]:
    collect = WINDOWS.model_copy(update={"spill_bytes": 2 * size if spill else 0})
    async with open_runtime() as runtime:
        warm = spec("head", "-c", "100000", "/dev/zero").model_copy(update={"stdout": collect})
        await _one_flood(runtime, warm, 100_000)
        wanted = spec(*command).model_copy(update={"stdout": collect})
        return [await _one_flood(runtime, wanted, size) for _ in range(3)]


def flood(backend: str, size: int) -> list[Row]:
    """Throughput and memory of one large output, with and without a file."""
    rows: list[Row] = []
    for spill in (True, False):
        with source(size) as command:
            plain = min(plain_loop(command, spill=spill) for _ in range(3))
            found = anyio.run(partial(_floods, command, size, spill=spill), backend=backend)
        own, growth = min(seconds for seconds, _ in found), max(peak for _, peak in found) / MIB
        name = f"{size // MIB} MiB, {'file and digest' if spill else 'no file'}, {backend}"
        rows.append(compared(name, size / MIB / own, "MiB/s", "plain loop", size / MIB / plain, at_least=0.5))
        windows = WINDOWS.max_bytes / MIB
        rows.append(compared(f"{name}: growth of memory", growth, "MiB", "windows", windows, at_most=3.0))
    return rows


def crowd(count: int) -> list[Row]:
    """Wall time of many at once."""

    async def ours() -> float:
        async with open_runtime() as runtime:

            async def one() -> None:
                async with await runtime.spawn(spec("bash", "-c", "true")) as process:
                    assert (await process.wait()).exit_code == 0

            await one()
            began = time.perf_counter()
            async with anyio.create_task_group() as group:
                for _ in range(count):
                    group.start_soon(one)
            return time.perf_counter() - began

    async def bare() -> float:
        async def one() -> None:
            pipe = subprocess.PIPE
            process = await asyncio.create_subprocess_exec("bash", "-c", "true", stdout=pipe, stderr=pipe)
            await process.communicate()

        await one()
        began = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(count)))
        return time.perf_counter() - began

    own, base = min(anyio.run(ours) for _ in range(3)), min(anyio.run(bare) for _ in range(3))
    return [compared(f"{count} at once, asyncio", own * 1e3, "ms", "bare asyncio", base * 1e3)]


def idlers(count: int) -> list[Row]:
    """What an idle process in the background costs: the host, and its supervisor."""

    async def measure() -> tuple[float, float, float]:
        async with open_runtime() as runtime:
            me = psutil.Process()
            streams = {"stdout": WINDOWS, "stderr": Null()}
            wanted = spec("sleep", "3600").model_copy(update=streams)
            await runtime.spawn(wanted)
            memory, descriptors = me.memory_info().rss, me.num_fds()
            processes: list[Process] = [await runtime.spawn(wanted) for _ in range(count)]
            grown = (me.memory_info().rss - memory) / count
            opened = (me.num_fds() - descriptors) / count
            supervisors = [psutil.Process(process.pid).parent() for process in processes[:20]]
            own = [supervisor.memory_full_info().uss for supervisor in supervisors if supervisor is not None]
            return grown, opened, sum(own) / len(own)

    grown, opened, own = anyio.run(measure)
    return [
        Row(f"{count} idle: memory of the host each", grown / 1024, "KiB"),
        Row(f"{count} idle, one collected stream: descriptors of the host each", opened, "count"),
        Row(f"{count} idle: memory of a supervisor", own / 1024, "KiB"),
    ]
