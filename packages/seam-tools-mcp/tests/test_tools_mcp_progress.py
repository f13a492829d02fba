"""Progress: in order and complete before the answer, given up with the call, and never the door's trouble."""

from __future__ import annotations

import anyio
import pytest

from seam.tools_def import Progress
from seam.tools_mcp._progress import WAITING, ProgressLine

pytestmark = pytest.mark.anyio


def step(text: str, done: float | None = None) -> Progress:
    return Progress(call="c", kind="progress" if done is not None else "output", text=text, done=done)


async def test_everything_that_came_is_sent_before_the_block_ends() -> None:
    told: list[tuple[float, str | None]] = []

    async def report(done: float, total: float | None, text: str | None) -> None:
        await anyio.lowlevel.checkpoint()
        told.append((done, text))

    async with anyio.create_task_group() as tasks, ProgressLine(tasks, report) as line:
        line(step("a"))
        line(step("b"))
        line(step("c", 7.0))
    assert told == [(1.0, "a"), (2.0, "b"), (7.0, "c")]


async def test_a_client_that_takes_nothing_is_given_up_with_its_call() -> None:
    async def report(done: float, total: float | None, text: str | None) -> None:
        await anyio.sleep_forever()

    call = anyio.CancelScope()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            call.deadline = anyio.current_time() + 0.05
            with call:
                async with ProgressLine(tasks, report) as line:
                    for _ in range(WAITING + 10):  # the last ones find no room, which is no error
                        line(step("x"))
                    await anyio.sleep_forever()
    assert call.cancelled_caught


async def test_a_call_that_fails_leaves_no_task_and_its_error_wins() -> None:
    async def report(done: float, total: float | None, text: str | None) -> None:
        await anyio.sleep_forever()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            with pytest.raises(KeyError):
                async with ProgressLine(tasks, report) as line:
                    line(step("x"))
                    raise KeyError("tool")


async def test_an_error_of_telling_is_the_calls_and_not_the_doors() -> None:
    async def report(done: float, total: float | None, text: str | None) -> None:
        raise OSError("gone")

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            with pytest.raises(OSError, match="gone"):
                async with ProgressLine(tasks, report) as line:
                    line(step("x"))


async def test_what_comes_after_the_call_is_over_starts_nothing() -> None:
    told: list[str | None] = []

    async def report(done: float, total: float | None, text: str | None) -> None:
        told.append(text)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            async with ProgressLine(tasks, report) as quiet:
                pass
            quiet(step("late"))
            async with ProgressLine(tasks, report) as line:
                line(step("in time"))
            line(step("late"))
    assert told == ["in time"]
