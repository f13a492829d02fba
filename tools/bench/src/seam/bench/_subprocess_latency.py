"""One `true` through the subprocess runtime: every level, every event loop."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import anyio

from seam.bench import _posix_spawn
from seam.bench._exec_latency import BASELINE, GOAL, Way, anyio_way, asyncio_way, blocking_way, sampled
from seam.bench.report import Row, compared, median, percentile
from seam.subprocess_def import Collect, NotSupported, Null, OwnedLifetime, SpawnSpec, SubprocessRuntime
from seam.subprocess_local import LocalSubprocessConfig, open_runtime

WINDOW = Collect(max_bytes=65536, head_bytes=32768, spill_bytes=1 << 30)
LEVELS = {
    "launcher": LocalSubprocessConfig(containment="launcher"),
    "launcher+cgroup": LocalSubprocessConfig(containment="launcher", cgroup="required"),
    "server": LocalSubprocessConfig(containment="server"),
    "scan": LocalSubprocessConfig(containment="scan"),
}


def spec(*argv: str) -> SpawnSpec:
    """A command with every feature on: two collected streams with files behind them, drain, survivors ended."""
    return SpawnSpec(
        argv=argv,
        cwd="/",
        env=dict(os.environ),
        stdin=Null(),
        stdout=WINDOW,
        stderr=WINDOW,
        grace=1.0,
        drain=0.5,
        survivors="end",
        lifetime=OwnedLifetime(),
    )


async def _ours(runtime: SubprocessRuntime) -> Way:
    shell = await runtime.which("bash", os.environ)
    assert shell is not None

    async def way() -> None:
        async with await runtime.spawn(spec(shell, "-c", "true")) as process:
            ended = await process.wait()
            assert ended.exit_code == 0
            process.collected("stdout").head()

    return way


def on(level: str, backend: str, rounds: int, *, rivals: bool) -> list[Row]:
    """Rows of one level on one event loop; `rivals`: what else starts processes there, as well."""

    async def measure() -> dict[str, list[float]]:
        async with open_runtime(LEVELS[level]) as runtime:
            ways: dict[str, Way] = {BASELINE: blocking_way, f"level {level}, {backend}": await _ours(runtime)}
            if rivals:
                ways[f"anyio.run_process, {backend}"] = anyio_way
                if backend == "asyncio":
                    ways["asyncio.create_subprocess_exec"] = asyncio_way
            return await sampled(ways, rounds)

    try:
        samples = anyio.run(measure, backend=backend)
    except NotSupported as lack:
        print(f"level {level!r} is not measured: {lack}", file=sys.stderr)
        return []
    rows: list[Row] = []
    for name, seconds in samples.items():
        if name == BASELINE:
            continue
        for part, at in (("p10", 0.1), ("p50", 0.5), ("p95", 0.95)):
            goal = GOAL if part == "p50" and name.startswith("level launcher,") else None
            own, base = percentile(seconds, at) * 1e3, percentile(samples[BASELINE], at) * 1e3
            rows.append(compared(f"true, {name}, {part}", own, "ms", BASELINE, base, at_most=goal))
    return rows


def floor(rounds: int) -> Sequence[Row]:
    """What a C program needs for the same, without containment."""
    seconds = _posix_spawn.seconds(rounds)
    if seconds is None:
        print("no C compiler here: the row of posix_spawn is left out", file=sys.stderr)
        return []

    async def base() -> list[float]:
        return (await sampled({BASELINE: blocking_way}, rounds))[BASELINE]

    own, baseline = median(seconds) * 1e3, median(anyio.run(base)) * 1e3
    return [compared("true, C program with posix_spawn and one pipe, p50", own, "ms", BASELINE, baseline)]
