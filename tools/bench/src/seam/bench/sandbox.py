"""What confinement costs: the same command through exec-local and through each sandbox, in turn, in one run."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio

from seam.bench._exec_latency import sampled
from seam.bench._executor import local_executor
from seam.bench.report import Row, Subject, compared, median, run_subjects
from seam.exec_def import ExecRequest, ShellExecutor
from seam.exec_sandbox import sandbox as exec_sandbox
from seam.kernel import Context, Kernel, NoConfig, plugin
from seam.sandbox_bwrap import bwrap
from seam.sandbox_def import PolicyRequest
from seam.sandbox_landlock import landlock
from seam.sandbox_policy import ConfiguredPolicy, PolicyConfig, policy
from seam.subprocess_local import local as subprocess_local

LOCAL = "exec-local"
GROUPED = "landlock in a control group"
GOALS = {"bwrap": 6.0, "landlock, static launcher": 0.5, "landlock, python launcher": 12.0}
"""Milliseconds that a sandbox may add to `true`."""

NOISE = 0.5
"""Milliseconds by which two medians of the same thing differ here."""

_GIB = 1 << 30
_PLAIN: dict[str, object] = {"control_groups": False}
"""Entering a control group waits for the kernel, whatever asks for it: its price is a row of its own."""


@asynccontextmanager
async def _sandboxed(runtime: str, config: dict[str, object]) -> AsyncGenerator[ShellExecutor, None]:
    taken: list[ShellExecutor] = []

    @plugin(requires=[ShellExecutor])
    async def taker(ctx: Context, config: NoConfig) -> AsyncGenerator[None, None]:
        taken.append(ctx[ShellExecutor])
        yield

    async with Kernel() as kernel:
        kernel.root.load(subprocess_local)
        kernel.root.load(policy, {"partial": True})
        if runtime == "bwrap":
            kernel.root.load(bwrap, config)
        else:
            kernel.root.load(landlock, config)
        kernel.root.load(exec_sandbox, {"max_timeout": "1h"})
        kernel.root.load(taker)
        await kernel.root.settle()
        if not taken:
            raise RuntimeError(f"no executor: {[str(fault.error) for fault in kernel.faults]}")
        yield taken[0]


def _shells() -> dict[str, tuple[str, dict[str, object]]]:
    found: dict[str, tuple[str, dict[str, object]]] = {}
    if shutil.which("bwrap"):
        found["bwrap"] = ("bwrap", {"fallback": "none", **_PLAIN})
    found[GROUPED] = ("landlock", {"launcher": "static"})
    found["landlock, static launcher"] = ("landlock", {"launcher": "static", **_PLAIN})
    found["landlock, python launcher"] = ("landlock", {"launcher": "python", **_PLAIN})
    return found


async def _measure(workspace: Path, rounds: int, smoke: bool) -> list[Row]:
    async with AsyncExitStack() as stack:
        executors = {LOCAL: await stack.enter_async_context(local_executor())}
        for name, (runtime, config) in _shells().items():
            executors[name] = await stack.enter_async_context(_sandboxed(runtime, config))
        small = await _times(executors, workspace, "true", rounds)
        rows = _added(small, "true", GOALS)
        ballast = bytearray(1 << 20 if smoke else _GIB)
        ballast[:: 1 << 12] = b"x" * len(ballast[:: 1 << 12])  # every page is there
        large = await _times(executors, workspace, "true", rounds)
        rows += _grown(small, large, len(ballast) >> 20)
        del ballast
        rows += await _at_once(executors, workspace, 10 if smoke else 100)
        rows += await _build(executors, workspace, smoke)
    return rows


async def _times(
    executors: dict[str, ShellExecutor], workspace: Path, command: str, rounds: int
) -> dict[str, tuple[float, float]]:
    """Milliseconds of each sandbox, and of the bare executor beside it.

    Each is measured in turn with the bare one alone: what the kernel still has to clear away behind one sandbox (a control
    group, a namespace) would otherwise be charged to the next.
    """

    def way(executor: ShellExecutor) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            result = await executor.run(
                executor.resolve(ExecRequest(command=command, workspace=str(workspace)))
            )
            if result.exit_code != 0:
                raise RuntimeError(f"{command} failed: {result}")

        return run

    times: dict[str, tuple[float, float]] = {}
    for name, executor in executors.items():
        if name != LOCAL:
            pair = await sampled({LOCAL: way(executors[LOCAL]), name: way(executor)}, rounds)
            times[name] = (median(pair[name]) * 1e3, median(pair[LOCAL]) * 1e3)
    return times


def _added(times: dict[str, tuple[float, float]], what: str, goals: dict[str, float]) -> list[Row]:
    rows: list[Row] = []
    for name, (value, bare) in times.items():
        added, goal = value - bare, goals.get(name)
        wanted, met = ("", None) if goal is None else (f"<= +{goal:g} ms", added <= goal)
        label = f"added to {what} by {name}"
        rows.append(Row(label, added, "ms", LOCAL, bare, value / bare, wanted, met))
    return rows


def _grown(
    small: dict[str, tuple[float, float]], large: dict[str, tuple[float, float]], mebibytes: int
) -> list[Row]:
    """What the host's own memory adds to what each sandbox adds: nothing, but for noise."""
    rows: list[Row] = []
    for name, (value, bare) in small.items():
        before, after = value - bare, large[name][0] - large[name][1]
        label = f"of it, by {mebibytes} MiB of the host, {name}"
        met = after - before <= NOISE
        goal = f"<= +{NOISE:g} ms"
        rows.append(Row(label, after - before, "ms", "small host", before, after / before, goal, met))
    return rows


async def _at_once(executors: dict[str, ShellExecutor], workspace: Path, count: int) -> list[Row]:
    rows: list[Row] = []
    times: dict[str, float] = {}
    for name, executor in executors.items():
        spec = executor.resolve(ExecRequest(command="true", workspace=str(workspace)))
        began = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for _ in range(count):
                tasks.start_soon(executor.run, spec)
        times[name] = (time.perf_counter() - began) * 1e3
        if name != LOCAL:
            rows.append(compared(f"{count} at once through {name}", times[name], "ms", LOCAL, times[LOCAL]))
    return rows


async def _build(executors: dict[str, ShellExecutor], workspace: Path, smoke: bool) -> list[Row]:
    """Compiling some of Python's own packages, as a build would."""
    library = Path(sysconfig.get_paths()["stdlib"])
    for name in (
        ("json",)
        if smoke
        else ("json", "email", "asyncio", "unittest", "http", "xml", "concurrent", "logging")
    ):
        shutil.copytree(
            library / name, workspace / "src" / name, ignore=shutil.ignore_patterns("__pycache__", "test*")
        )
    command = "python3 -I -m compileall -q -f src"
    times = await _times(
        {name: one for name, one in executors.items() if "python" not in name},
        workspace,
        command,
        1 if smoke else 5,
    )
    return [
        compared(f"building through {name}", value, "ms", LOCAL, bare, at_most=1.05)
        for name, (value, bare) in times.items()
    ]


def _resolution(workspace: Path, rounds: int) -> Row:
    decider = ConfiguredPolicy(PolicyConfig(), str(Path.home()))
    request = PolicyRequest(workspace=str(workspace))
    samples: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        decider.resolve(request)
        samples.append(time.perf_counter() - began)
    value = median(samples) * 1e3
    return Row("resolving a policy", value, "ms", goal="<= 0.5 ms", met=value <= 0.5)


def measure(smoke: bool) -> Sequence[Row]:
    """Every figure, on asyncio."""
    with tempfile.TemporaryDirectory(prefix="bench-sandbox-", dir=Path.home()) as folder:
        workspace = Path(folder)
        subprocess.run(["git", "init", "-q", folder], check=True)
        rows = [_resolution(workspace, 20 if smoke else 1000)]
        return [*rows, *anyio.run(_measure, workspace, 2 if smoke else 60, smoke)]


SUBJECT = Subject("sandbox", "what each sandbox adds to a command", measure)

if __name__ == "__main__":
    raise SystemExit(run_subjects([SUBJECT]))
