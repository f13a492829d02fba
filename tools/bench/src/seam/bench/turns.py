"""What a turn adds to a tool: the whole chain against the bare async function."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from seam.bench.report import Row, Subject, median, percentile, run_subjects

GOAL_US = 200.0
"""A no-op tool with the journal in memory and all features on: at most so much above the bare function."""


def measure(smoke: bool) -> Sequence[Row]:
    """Calls of a no-op tool, one after the other, on both event loops."""
    import anyio

    rows: list[Row] = []
    for backend in ("asyncio", "trio"):
        rows += anyio.run(_measure, backend, 200 if smoke else 5000, backend=backend)
    return rows


async def _measure(backend: str, calls: int) -> list[Row]:
    import anyio.lowlevel

    from seam.bench._turn_stage import opened_turn
    from seam.bench._turn_steps import steps

    async def bare(text: str = "") -> None:
        await anyio.lowlevel.checkpoint()

    baseline = await _times(bare, calls)
    rows: list[Row] = []
    parts: list[Row] = []
    for name, goal in (("bare chain", None), ("all features", GOAL_US)):
        async with opened_turn(features=name == "all features") as turn:

            async def call() -> None:
                outcome = await turn.call("noop", {"text": "x"})
                assert outcome.kind == "completed"

            await _times(call, max(50, calls // 10))  # warm up
            found = await _times(call, calls)
            if goal is not None:
                parts = await steps(backend, call, calls)
        above = median(found) - median(baseline)
        rows.append(
            Row(
                f"{backend}: turn.call of a no-op, {name}, above the bare function",
                above,
                "us",
                goal="" if goal is None else f"<= {goal:g} us",
                met=None if goal is None else above <= goal,
            )
        )
        rows.append(Row(f"{backend}: the same, p95", percentile(found, 0.95), "us"))
    rows.append(Row(f"{backend}: bare async function with one checkpoint", median(baseline), "us"))
    return rows + parts


async def _times(step: Callable[[], Awaitable[None]], calls: int) -> list[float]:
    found: list[float] = []
    for _ in range(calls):
        start = time.perf_counter_ns()
        await step()
        found.append((time.perf_counter_ns() - start) / 1000)
    return found


SUBJECT = Subject("turns", "the chain of a tool call, journal in memory", measure)

if __name__ == "__main__":
    raise SystemExit(run_subjects([SUBJECT]))
