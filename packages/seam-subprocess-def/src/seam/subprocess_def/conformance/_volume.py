"""Much output: memory stays flat, the event loop stays free."""

from __future__ import annotations

import time

import anyio
import psutil

from seam.subprocess_def._streams import Collect, Null
from seam.subprocess_def.conformance._check import check
from seam.subprocess_def.conformance._streams import SMALL, SPILLED
from seam.subprocess_def.conformance._trial import Trial

MIB = 1 << 20


async def _endless(trial: Trial, script: str, size: int, collect: Collect) -> None:
    """The host's memory stays near the windows, whatever comes."""
    here = psutil.Process()
    async with await trial.spawn(trial.bash("head -c 4000000 /dev/zero", stdout=collect)) as process:
        await process.wait()  # buffers that are made once are made now
    before = here.memory_info().rss
    async with await trial.spawn(trial.bash(script, stdout=collect)) as process:
        highest = before
        while process.exit is None:
            with anyio.move_on_after(0.02):
                await process.wait()
            highest = max(highest, here.memory_info().rss)
        stream = process.collected("stdout")
        assert process.exit.exit_code == 0
        assert stream.total == size
        assert (len(stream.head()), len(stream.tail())) == (
            collect.head_bytes,
            collect.max_bytes - collect.head_bytes,
        )
        assert highest - before < 40 * MIB, (
            f"{(highest - before) // MIB} MiB more for {collect.max_bytes} bytes of windows"
        )


HUNDRED_K = Collect(max_bytes=100_000, head_bytes=50_000, spill_bytes=0)


@check("host_view")
async def test_out_002_memory_stays_flat(trial: Trial) -> None:
    await _endless(trial, "yes | head -c 100000000", 100_000_000, HUNDRED_K)


@check("host_view", full=True)
async def test_out_002_memory_stays_flat_on_three_gigabytes(trial: Trial) -> None:
    await _endless(trial, "yes | head -c 3000000000", 3_000_000_000, HUNDRED_K)


@check("host_view")
async def test_out_003_one_line_without_end(trial: Trial) -> None:
    await _endless(trial, "head -c 100000000 /dev/zero | tr '\\0' a", 100_000_000, HUNDRED_K)


@check("host_view", full=True)
async def test_out_003_one_line_of_two_gigabytes(trial: Trial) -> None:
    await _endless(trial, "head -c 2000000000 /dev/zero | tr '\\0' a", 2_000_000_000, HUNDRED_K)


@check()
async def test_out_007_output_that_never_ends_is_ended(trial: Trial) -> None:
    async with await trial.spawn(
        trial.bash("while true; do echo test; done", stdout=SMALL, stderr=Null())
    ) as process:
        stream = process.collected("stdout")
        assert await stream.wait_beyond(100_000)
        ended = await process.terminate()
        assert ended.signal == "SIGTERM"
        assert stream.head() == (b"test\n" * 200)
        assert len(stream.tail()) == 1000
        assert stream.summary().total >= 100_000


@check()
async def test_the_event_loop_stays_free_while_output_pours(trial: Trial) -> None:
    longest, last = 0.0, time.monotonic()

    async def tick() -> None:
        nonlocal longest, last
        while True:
            now = time.monotonic()
            longest, last = max(longest, now - last), now
            await anyio.sleep(0)

    spilled = SPILLED.model_copy(update={"spill_bytes": 50_000_000})
    async with await trial.spawn(trial.bash("yes | head -c 200000000", stdout=spilled)) as process:
        async with anyio.create_task_group() as group:
            group.start_soon(tick)
            await process.wait()
            group.cancel_scope.cancel()
        ended = await process.wait()
        assert ended.exit_code == 0
        assert longest < ended.run_seconds / 2, f"others stood still for {longest} of {ended.run_seconds} s"
