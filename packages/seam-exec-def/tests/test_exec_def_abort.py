"""`Abort`: given once, stays given, tells everybody."""

from __future__ import annotations

import anyio
import pytest

from seam.exec_def import Abort


def test_the_first_reason_stays() -> None:
    abort = Abort()
    assert not abort.is_set
    assert abort.reason is None
    abort.set("user pressed stop")
    abort.set("something else")
    assert abort.is_set
    assert abort.reason == "user pressed stop"


def test_listeners_are_called_once_and_not_after_they_left() -> None:
    abort, calls = Abort(), list[str]()
    abort.subscribe(lambda: calls.append("stays"))
    leave = abort.subscribe(lambda: calls.append("leaves"))
    leave()
    abort.set()
    abort.set()
    leave()
    assert calls == ["stays"]


def test_a_late_listener_is_called_at_once() -> None:
    abort, calls = Abort(), list[str]()
    abort.set()
    abort.subscribe(lambda: calls.append("late"))()
    assert calls == ["late"]


@pytest.mark.anyio
async def test_many_can_wait() -> None:
    abort, done = Abort(), list[int]()

    async def wait(number: int) -> None:
        await abort.wait()
        done.append(number)

    async with anyio.create_task_group() as group:
        group.start_soon(wait, 1)
        group.start_soon(wait, 2)
        await anyio.wait_all_tasks_blocked()
        assert done == []
        abort.set()
    assert sorted(done) == [1, 2]
    await abort.wait()
