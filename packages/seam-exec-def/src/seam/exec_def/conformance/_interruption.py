"""Ending a command from outside: abort, cancellation, handing over, disposal."""

from __future__ import annotations

import anyio
import pytest

from seam.exec_def import Abort, ExecProcess, ExecResult, ExecutorClosed
from seam.exec_def.conformance._check import check
from seam.exec_def.conformance._ends import SLACK
from seam.exec_def.conformance._trial import Stopwatch, Trial


@check()
async def test_an_abort_is_an_outcome_with_partial_output(trial: Trial) -> None:
    mark, abort, watch = trial.mark(), Abort(), Stopwatch()
    results: list[ExecResult] = []

    async def run() -> None:
        results.append(await trial.run(f"echo before; touch up; sleep {mark}", abort=abort, timeout=60.0))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await trial.until_exists(trial.folder / "up")
        abort.set("the user pressed stop")
    assert watch.seconds < SLACK
    result = results[0]
    assert (result.cause, result.ended_by, result.aborted, result.timed_out) == (
        "aborted",
        "abort",
        True,
        False,
    )
    assert result.abort_reason == "the user pressed stop"
    assert result.stdout.text == "before\n"
    await trial.assert_gone(mark)


@check()
async def test_ex_020_an_abort_ends_what_ignores_the_polite_signal(trial: Trial) -> None:
    mark, abort, watch = trial.mark(), Abort(), Stopwatch()
    results: list[ExecResult] = []

    async def run() -> None:
        command = "trap '' TERM; touch up; while :; do sleep 0.1; done"
        results.append(await trial.run(command, abort=abort, timeout=60.0, variables={"SEAM_MARK": mark}))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await trial.until_exists(trial.folder / "up")
        abort.set()
    assert results[0].aborted
    assert results[0].signal == "SIGKILL"
    assert watch.seconds < SLACK
    await trial.assert_gone(mark)


@check()
async def test_an_abort_of_what_is_being_ended_already_changes_nothing(trial: Trial) -> None:
    mark, abort = trial.mark(), Abort()
    results: list[ExecResult] = []

    async def run() -> None:
        command = "trap 'touch asked' TERM; while :; do sleep 0.05; done"
        results.append(await trial.run(command, abort=abort, timeout=0.5, variables={"SEAM_MARK": mark}))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await trial.until_exists(trial.folder / "asked")
        abort.set()
    assert (results[0].cause, results[0].ended_by, results[0].aborted) == ("timed_out", "timeout", False)
    await trial.assert_gone(mark)


@check("host_view")
async def test_an_abort_before_the_start_starts_nothing(trial: Trial) -> None:
    abort = Abort()
    abort.set("too late")
    result = await trial.run("touch ran", abort=abort)
    assert result.aborted
    assert not (trial.folder / "ran").exists()


@check()
async def test_an_abort_after_the_end_changes_nothing(trial: Trial) -> None:
    abort = Abort()
    result = await trial.run("true", abort=abort)
    abort.set()
    assert result.success


@check()
async def test_ex_055_cancelling_ends_the_command_and_raises(trial: Trial) -> None:
    mark = trial.mark()
    records: list[ExecResult] = []
    returned: list[ExecResult] = []

    async def run() -> None:
        returned.append(
            await trial.run(f"echo before; touch up; sleep {mark}", timeout=60.0, settled=records.append)
        )

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await trial.until_exists(trial.folder / "up")
        assert trial.alive(mark)
        group.cancel_scope.cancel()
    # at once, not after a while: the wait for the end is part of the cancellation
    assert trial.alive(mark) == []
    assert returned == []
    assert [(one.cause, one.ended_by, one.stdout.text) for one in records] == [
        ("aborted", "cancellation", "before\n")
    ]


@check()
async def test_a_cancellation_is_raised_even_if_the_command_ignores_the_polite_signal(trial: Trial) -> None:
    mark = trial.mark()
    with anyio.move_on_after(0.7) as scope:
        await trial.run(
            "trap '' TERM; while :; do sleep 0.1; done", timeout=60.0, variables={"SEAM_MARK": mark}
        )
    assert scope.cancelled_caught
    assert trial.alive(mark) == []


@check()
async def test_a_command_is_handed_over_alive_when_its_limit_has_passed(trial: Trial) -> None:
    taken: list[ExecProcess] = []

    async def take(process: ExecProcess) -> bool:
        taken.append(process)
        return True

    command = "echo before; while [ ! -e go ]; do sleep 0.02; done; echo after; exit 4"
    record = await trial.run(command, timeout=0.5, hand_over=take)
    assert (record.handed_over, record.cause, record.timed_out, record.exit_code) == (
        True,
        "timed_out",
        True,
        None,
    )
    assert record.ended_by == "nobody"
    assert record.stdout.text == "before\n"
    process = taken[0]
    assert process.result is None
    (trial.folder / "go").touch()
    result = await process.wait()
    assert (result.cause, result.exit_code, result.handed_over) == ("exited", 4, False)
    assert result.stdout.text == "before\nafter\n"
    await process.aclose()


@check()
async def test_a_command_that_nobody_takes_over_is_ended(trial: Trial) -> None:
    mark = trial.mark()

    async def decline(process: ExecProcess) -> bool:
        return False

    result = await trial.run(f"sleep {mark}", timeout=0.4, hand_over=decline)
    assert (result.handed_over, result.cause, result.ended_by) == (False, "timed_out", "timeout")
    await trial.assert_gone(mark)


@check()
async def test_ex_079_a_hook_that_raises_does_not_keep_the_command_alive(trial: Trial) -> None:
    mark = trial.mark()

    async def broken(process: ExecProcess) -> bool:
        raise RuntimeError("the hook is broken")

    result = await trial.run(f"sleep {mark}", timeout=0.4, hand_over=broken)
    assert result.timed_out
    assert [failure.hook for failure in result.hook_failures] == ["hand_over"]
    assert "the hook is broken" in result.hook_failures[0].error
    await trial.assert_gone(mark)


@check()
async def test_a_hook_that_never_answers_does_not_hold_the_result(trial: Trial) -> None:
    mark, watch = trial.mark(), Stopwatch()

    async def silent(process: ExecProcess) -> bool:
        await anyio.sleep_forever()
        return True

    result = await trial.run(f"sleep {mark}", timeout=0.4, hand_over=silent)
    assert result.timed_out
    assert not result.handed_over
    assert watch.seconds < result.limits.return_by + result.limits.grace + SLACK
    await trial.assert_gone(mark)


@check()
async def test_settled_is_told_once_and_may_raise(trial: Trial) -> None:
    records: list[ExecResult] = []

    def settled(result: ExecResult) -> None:
        records.append(result)
        raise RuntimeError("the listener is broken")

    result = await trial.run("exit 3", settled=settled)
    assert records == [result]


async def _dispose(trial: Trial) -> None:
    close = getattr(trial.executor, "aclose", None)
    if close is None:
        pytest.skip("this executor has no aclose of its own; it is disposed with its plugin")
    await close()


@check()
async def test_disposal_ends_everything_and_waits(trial: Trial) -> None:
    mark = trial.mark()
    results: list[ExecResult] = []

    async def run() -> None:
        results.append(await trial.run(f"touch up; sleep {mark}", timeout=60.0))

    background = await trial.start(f"sleep {mark}")
    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await trial.until_exists(trial.folder / "up")
        await _dispose(trial)
        assert trial.alive(mark) == []
    assert (results[0].cause, results[0].ended_by) == ("aborted", "disposal")
    ended = await background.wait()
    assert (ended.cause, ended.ended_by) == ("aborted", "disposal")
    with pytest.raises(ExecutorClosed):
        await trial.run("true")
    with pytest.raises(ExecutorClosed):
        await trial.start("true")
