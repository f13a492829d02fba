"""An end that is wanted while the start is under way: the command may have written already, and nothing of that is lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

import anyio
import anyio.lowlevel
import pytest

from seam.exec_def import Abort, ExecRequest, ExecResult
from seam.exec_local import Bare, LocalExecConfig, executor
from seam.subprocess_def import Process, SubprocessRuntime
from seam.subprocess_local import open_runtime

pytestmark = pytest.mark.anyio


class Late:
    """Holds up the answer of a `spawn` until the command has written and the test has done what it wants."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, runtime: SubprocessRuntime) -> None:
        self.wrote, self.go = anyio.Event(), anyio.Event()
        spawn = cast("Callable[..., Awaitable[Process]]", runtime.spawn)

        async def late(*arguments: object, **named: object) -> Process:
            process = await spawn(*arguments, **named)
            await process.collected("stdout").wait_beyond(0)
            self.wrote.set()
            await self.go.wait()
            return process

        monkeypatch.setattr(runtime, "spawn", late)


async def test_an_abort_during_the_start_keeps_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        open_runtime() as runtime,
        executor(
            runtime,
            LocalExecConfig(grace=0.2),
            secrets=None,
            wrapper=Bare(),
            distribution="seam-exec-local",
        ) as made,
    ):
        late, abort, results = Late(monkeypatch, runtime), Abort(), list[ExecResult]()

        async def run() -> None:
            spec = made.resolve(ExecRequest(command="echo before; sleep 300"))
            results.append(await made.run(spec, abort=abort))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await late.wrote.wait()
            abort.set("stop")
            await anyio.lowlevel.checkpoint()
            late.go.set()
        assert (results[0].cause, results[0].stdout.text) == ("aborted", "before\n")


async def test_a_cancellation_during_the_start_keeps_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        open_runtime() as runtime,
        executor(
            runtime,
            LocalExecConfig(grace=0.2),
            secrets=None,
            wrapper=Bare(),
            distribution="seam-exec-local",
        ) as made,
    ):
        late, records = Late(monkeypatch, runtime), list[ExecResult]()
        returned: list[ExecResult] = []

        async def run() -> None:
            spec = made.resolve(ExecRequest(command="echo before; sleep 300"))
            returned.append(await made.run(spec, settled=records.append))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await late.wrote.wait()
            group.cancel_scope.cancel()
            late.go.set()
        assert returned == []
        assert [(one.cause, one.ended_by, one.stdout.text) for one in records] == [
            ("aborted", "cancellation", "before\n")
        ]


async def test_an_abort_of_a_start_that_never_answers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    config = LocalExecConfig(grace=0.2, guard=0.3)
    async with (
        open_runtime() as runtime,
        executor(runtime, config, secrets=None, wrapper=Bare(), distribution="seam-exec-local") as made,
    ):
        late, abort, results = Late(monkeypatch, runtime), Abort(), list[ExecResult]()

        async def run() -> None:
            spec = made.resolve(ExecRequest(command="echo before; sleep 300"))
            results.append(await made.run(spec, abort=abort))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(run)
                await late.wrote.wait()
                abort.set("stop")
        assert (results[0].cause, results[0].abort_reason) == ("aborted", "stop")
