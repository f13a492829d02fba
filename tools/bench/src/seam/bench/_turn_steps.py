"""Where the time of a turn's call goes: each step of the chain under its own clock, in calls that are not counted otherwise."""

from __future__ import annotations

import inspect
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import cast
from unittest.mock import patch

from seam.bench.report import Row, median
from seam.tools_runtime import _chain as chain  # pyright: ignore[reportPrivateUsage] - its steps are what is measured

STEPS = (
    ("request: the tool is found, arguments bounded and shown", ("find", "bounded_arguments", "_requested")),
    ("permission and availability", ("check_permitted", "check_available")),
    ("validation", ("validate",)),
    ("resolution and digest", ("resolve", "_info")),
    ("policy: hooks and permissions", ("judge",)),
    ("consent", ("consent",)),
    ("record of the start, written before it", ("_start",)),
    ("the tool, hooks around it, its outcome frozen and bounded", ("execute",)),
    ("hooks behind it, settled record, observers", ("settle",)),
)  # fmt: skip
REST = "its own task, and the two switches to it and back"


class Clock:
    """Adds up, for each call, the time that named steps took."""

    def __init__(self) -> None:
        self.current: dict[str, float] = defaultdict(float)

    def around(self, step: str, function: Callable[..., object]) -> Callable[..., object]:
        """The same function, timed."""
        if inspect.iscoroutinefunction(function):
            slow = cast("Callable[..., Awaitable[object]]", function)

            async def timed(*arguments: object) -> object:
                began = time.perf_counter_ns()
                try:
                    return await slow(*arguments)
                finally:
                    self.current[step] += (time.perf_counter_ns() - began) / 1000

            return timed

        def timed_at_once(*arguments: object) -> object:
            began = time.perf_counter_ns()
            try:
                return function(*arguments)
            finally:
                self.current[step] += (time.perf_counter_ns() - began) / 1000

        return timed_at_once


@contextmanager
def _clocked(clock: Clock) -> Generator[None]:
    with ExitStack() as stack:
        for step, names in STEPS:
            for name in names:
                timed = clock.around(step, cast("Callable[..., object]", getattr(chain, name)))
                stack.enter_context(patch.object(chain, name, timed))
        yield


async def steps(backend: str, call: Callable[[], Awaitable[None]], calls: int) -> list[Row]:
    """A row for each step: its median, and its share of the whole; the clocks themselves cost a little."""
    clock = Clock()
    found: dict[str, list[float]] = defaultdict(list)
    whole: list[float] = []
    with _clocked(clock):
        for _ in range(calls):
            clock.current.clear()
            began = time.perf_counter_ns()
            await call()
            took = (time.perf_counter_ns() - began) / 1000
            whole.append(took)
            for step, value in clock.current.items():
                found[step].append(value)
            found[REST].append(took - sum(clock.current.values()))
    total = median(whole)
    return [
        Row(f"{backend}: of it, {step}", median(times), "us", "whole call", total, median(times) / total)
        for step, times in found.items()
    ]
