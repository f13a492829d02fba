"""A batch of calls: parallel-safe ones together, exclusive ones alone, answers in the order asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

import anyio

from seam.tools_def import Outcome, TurnFailed


async def run_batch(
    parallel: Sequence[bool], run: Callable[[int], Awaitable[Outcome]], side_by_side: int
) -> tuple[Outcome, ...]:
    """Run `run(place)` for each place.

    Places that follow one another and are parallel run side by side, at most so many; every other one runs alone, when all before
    it are settled.

    Raises:
        TurnFailed: of the first call that could not be recorded; the others were told to stop and have ended.
    """
    outcomes: dict[int, Outcome] = {}
    for group in _groups(parallel):
        if len(group) == 1:
            outcomes[group[0]] = await run(group[0])
        else:
            await _together(group, run, side_by_side, outcomes)
    return tuple(outcomes[place] for place in range(len(parallel)))


async def _together(
    group: Sequence[int],
    run: Callable[[int], Awaitable[Outcome]],
    side_by_side: int,
    outcomes: dict[int, Outcome],
) -> None:
    limiter = anyio.CapacityLimiter(side_by_side)
    failures: list[TurnFailed] = []

    async def one(place: int) -> None:
        try:
            async with limiter:
                outcomes[place] = await run(place)
        except TurnFailed as failed:
            failures.append(failed)

    async with anyio.create_task_group() as tasks:
        for place in group:
            tasks.start_soon(one, place)
    if failures:
        raise failures[0]


def _groups(parallel: Sequence[bool]) -> Iterator[list[int]]:
    group: list[int] = []
    for place, safe in enumerate(parallel):
        if not safe and group:
            yield group
            group = []
        if safe:
            group.append(place)
        else:
            yield [place]
    if group:
        yield group
