"""What the kernel costs: looking a service up, sending an event, starting and stopping many plugins.

All of it happens in one thread that never waits for anything outside, so its processor time is measured: on an idle
machine that is the time that passes, and on a busy one it is still about the code.
"""

from __future__ import annotations

import gc
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import anyio

from seam.bench.report import Row, Subject, compared, median, run_subjects
from seam.kernel import (
    Around,
    Context,
    Decide,
    Kernel,
    Next,
    NoConfig,
    Observe,
    Plugin,
    Scope,
    Service,
    plugin,
)

TOLD: Observe[int] = Observe("bench.told")
ASKED: Decide[int, int] = Decide("bench.asked")
CALLED: Around[int, int] = Around("bench.called")


class Thing(Service, key="thing"):
    """What is looked up."""


async def nothing(payload: int) -> int:
    """The innermost step, and the baseline of every dispatch: one awaited call."""
    return payload


@plugin(provides=[Thing])
async def thing(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
    """Provides what is looked up."""
    ctx.provide(Thing, Thing())
    yield


def measure(smoke: bool) -> Sequence[Row]:
    """Return all rows; with `smoke`, of one short round."""
    rounds, loops = (1, 1_000) if smoke else (7, 100_000)
    rows: list[Row] = [*anyio.run(_lookup, rounds, loops)]
    for listeners in (0, 1, 10):
        rows += anyio.run(_dispatch, listeners, rounds, loops // 10)
    for backend in ("asyncio", "trio"):
        for count in (20, 40) if smoke else (200, 1000):
            lives = range(1 if smoke else 3)
            for shape, wiring in WIRINGS.items():
                samples = [anyio.run(_life, count, wiring, backend=backend) for _ in lives]
                baseline = median([anyio.run(_bare_tasks, count, backend=backend) for _ in lives])
                for what, column in (("start", 0), ("stop", 1)):
                    value = median([sample[column] for sample in samples]) * 1e3
                    name = f"{what} {count} plugins, {shape}, {backend}"
                    rows.append(
                        compared(name, value, "ms", f"{count} bare tasks, begin to end", baseline * 1e3)
                    )
    return rows


# -- lookup


async def _lookup(rounds: int, loops: int) -> list[Row]:
    contexts: list[Context] = []

    @plugin(requires=[Thing])
    async def user(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        contexts.append(ctx)
        yield

    async with Kernel() as kernel:
        kernel.root.load(thing)
        kernel.root.load(user)
        await kernel.root.settle()
        ctx, plain = contexts[0], {Thing: ctx_value(contexts[0])}
        baseline = _fastest(lambda: _loop_dict(plain, loops), rounds, loops)
        return [
            compared(
                "ctx[Service]",
                _fastest(lambda: _loop_item(ctx, loops), rounds, loops),
                "ns",
                "dict lookup",
                baseline,
            ),
            compared(
                "ctx.get(Service)",
                _fastest(lambda: _loop_get(ctx, loops), rounds, loops),
                "ns",
                "dict lookup",
                baseline,
            ),
        ]


def ctx_value(ctx: Context) -> Thing:
    """The service itself."""
    return ctx[Thing]


def _loop_dict(plain: dict[type[Thing], Thing], loops: int) -> None:
    for _ in range(loops):
        plain[Thing]


def _loop_item(ctx: Context, loops: int) -> None:
    for _ in range(loops):
        ctx[Thing]


def _loop_get(ctx: Context, loops: int) -> None:
    for _ in range(loops):
        ctx.get(Thing)


def _fastest(action: Callable[[], None], rounds: int, loops: int) -> float:
    """Nanoseconds per loop; the fastest round is the one that others disturbed least."""
    return min(_timed(action) for _ in range(rounds)) / loops * 1e9


def _timed(action: Callable[[], None]) -> float:
    started = time.thread_time()
    action()
    return time.thread_time() - started


# -- dispatch


@plugin()
async def listening(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
    """Listens to all three events and does next to nothing."""

    async def around(payload: int, onward: Next[int, int]) -> int:
        return await onward(payload)

    ctx.on(TOLD, lambda payload: None)
    ctx.on(ASKED, lambda payload: payload)
    ctx.on(CALLED, around)
    yield


async def _dispatch(listeners: int, rounds: int, loops: int) -> list[Row]:
    async with Kernel() as kernel:
        scope = kernel.root.child("generation")
        for number in range(listeners):
            scope.load(listening, name=f"listener {number}")
        await scope.settle()
        baseline = await _fastest_awaits(lambda: _await_plain(loops), rounds, loops)
        figures = {
            "observe": await _fastest_awaits(lambda: _await_observe(scope, loops), rounds, loops),
            "decide": await _fastest_awaits(lambda: _await_decide(scope, loops), rounds, loops),
            "around": await _fastest_awaits(lambda: _await_around(scope, loops), rounds, loops),
        }
    return [
        compared(f"{mode}, {listeners} listeners", figure, "ns", "await f()", baseline)
        for mode, figure in figures.items()
    ]


async def _await_plain(loops: int) -> None:
    for _ in range(loops):
        await nothing(1)


async def _await_observe(scope: Scope, loops: int) -> None:
    for _ in range(loops):
        await scope.observe(TOLD, 1)


async def _await_decide(scope: Scope, loops: int) -> None:
    for _ in range(loops):
        await scope.decide(ASKED, 1)


async def _await_around(scope: Scope, loops: int) -> None:
    for _ in range(loops):
        await scope.around(CALLED, 1, nothing)


async def _fastest_awaits(action: Callable[[], Awaitable[None]], rounds: int, loops: int) -> float:
    found: list[float] = []
    for _ in range(rounds):
        started = time.thread_time()
        await action()
        found.append(time.thread_time() - started)
    return min(found) / loops * 1e9


# -- start and stop


def _independent(number: int) -> list[int]:
    return []


def _hub(number: int) -> list[int]:
    return [0] if number else []


def _chain(number: int) -> list[int]:
    return [number - 1] if number else []


def _layered(number: int) -> list[int]:
    return [each for each in {number // 2, number // 3, number - 1 - number % 10} if 0 <= each < number]


WIRINGS: dict[str, Callable[[int], list[int]]] = {
    "independent": _independent,
    "all on one": _hub,
    "a chain": _chain,
    "three requirements each": _layered,
}


def _plugins(count: int, wiring: Callable[[int], list[int]]) -> list[Plugin[NoConfig]]:
    services: list[type[Service]] = [
        type(f"S{number}", (Service,), {}, key=f"s{number}") for number in range(count)
    ]

    def make(number: int) -> Plugin[NoConfig]:
        @plugin(
            requires=[services[each] for each in wiring(number)],
            provides=[services[number]],
            name=f"p{number}",
        )
        async def one(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
            ctx.provide(services[number], services[number]())
            ctx.contribute(number)
            yield

        return one

    return [make(number) for number in range(count)]


async def _life(count: int, wiring: Callable[[int], list[int]]) -> tuple[float, float]:
    plugins = _plugins(count, wiring)
    gc.collect()  # what the round before left is not this one's cost; what this one makes is
    async with Kernel() as kernel:
        started = time.thread_time()
        for each in plugins:
            kernel.root.load(each)
        await kernel.root.settle()
        up = time.thread_time()
        assert all(instance.state == "active" for instance in kernel.root.instances)
        stopping = time.thread_time()
        await kernel.root.aclose()
        return up - started, time.thread_time() - stopping


async def _bare_tasks(count: int) -> float:
    started = time.thread_time()
    async with anyio.create_task_group() as tasks:
        done = anyio.Event()
        for _ in range(count):
            tasks.start_soon(done.wait)
        await anyio.wait_all_tasks_blocked()
        done.set()
    return time.thread_time() - started


SUBJECT = Subject(
    "kernel", "service lookup, event dispatch, start and stop of many plugins (processor time)", measure
)

if __name__ == "__main__":
    raise SystemExit(run_subjects([SUBJECT]))
