"""Ending processes: terminate, cancellation, disposal."""

from __future__ import annotations

import os
import threading
import time

import anyio
import psutil
import pytest

from seam.subprocess_def._errors import RuntimeClosed, UnknownSignal
from seam.subprocess_def._streams import Null
from seam.subprocess_def.conformance._check import check
from seam.subprocess_def.conformance._ends import ESCAPES
from seam.subprocess_def.conformance._trial import Trial

CHAIN = """
import os, time
for _ in range(1500):
    if os.fork(): os._exit(0)
    time.sleep(0.01)
"""


@check()
async def test_terminate_tells_what_it_took(trial: Trial) -> None:
    async with await trial.spawn(trial.spec("sleep", "300")) as process:
        ended = await process.terminate()
        assert (ended.exit_code, ended.signal) == (None, "SIGTERM")
        assert ended.termination is not None
        assert (ended.termination.by, ended.termination.escalated) == ("terminate", False)
        assert await process.terminate() == ended, "terminate is idempotent"


@check()
async def test_a_program_may_end_in_its_own_way_within_the_grace(trial: Trial) -> None:
    script = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.02; done"
    async with await trial.spawn(trial.bash(script, grace=20.0)) as process:
        assert await process.collected("stdout").wait_beyond(0)
        ended = await process.terminate()
        assert (ended.exit_code, process.collected("stdout").head()) == (5, b"ready\nbye\n")


@check()
async def test_ex_020_a_program_that_ignores_sigterm_is_killed_after_the_grace(trial: Trial) -> None:
    async with await trial.spawn(
        trial.bash("trap '' TERM; echo ready; while :; do sleep 0.1; done")
    ) as process:
        assert await process.collected("stdout").wait_beyond(0)
        started = time.monotonic()
        ended = await process.terminate(grace=0.2)
        assert time.monotonic() - started >= 0.2
        assert ended.signal == "SIGKILL"
        assert ended.termination is not None
        assert ended.termination.escalated
    await _nothing_alive(trial)


async def _nothing_alive(trial: Trial) -> None:
    if trial.subject.capabilities.host_view:
        assert trial.alive() == []


@check()
async def test_ex_021_no_form_of_ignoring_waits_longer(trial: Trial) -> None:
    for script in (
        "trap '' TERM; echo ready; sleep 80",
        "trap '' TERM; echo ready; sleep 80; echo done",
        "echo ready; sleep 80 & wait",
        "trap '' TERM; echo ready; sleep 80 & wait",
    ):
        async with await trial.spawn(trial.bash(script)) as process:
            assert await process.collected("stdout").wait_beyond(0)
            with anyio.fail_after(10):
                ended = await process.terminate(grace=0.2)
            assert ended.signal in ("SIGTERM", "SIGKILL"), script
            assert process.collected("stdout").head() == b"ready\n", script
        await _nothing_alive(trial)


@check()
async def test_ex_022_a_stopped_process_is_ended(trial: Trial) -> None:
    async with await trial.spawn(trial.bash("echo ready; kill -STOP $$; echo resumed; sleep 80")) as process:
        assert await process.collected("stdout").wait_beyond(0)
        if trial.subject.capabilities.host_view:
            await trial.until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)
        with anyio.fail_after(10):
            ended = await process.terminate(grace=5.0)
        assert ended.signal == "SIGTERM", "a stopped process is continued, so that it can act on SIGTERM"
    await _nothing_alive(trial)


@check("host_view")
async def test_ex_003_a_fifo_with_reader_and_writer(trial: Trial) -> None:
    script = "P=$(mktemp -u); mkfifo $P; (while true; do echo child; sleep 0.1; done) > $P & cat $P"
    async with await trial.spawn(trial.bash(script, env={"TMPDIR": str(trial.folder)})) as process:
        assert await process.collected("stdout").wait_beyond(0)
        with anyio.fail_after(10):
            await process.terminate(grace=0.5)
        assert b"child\n" in process.collected("stdout").head()
        assert trial.alive() == []


@check("host_view")
async def test_ex_005_busy_children_of_a_script(trial: Trial) -> None:
    script = "ulimit -t 20; for i in 1 2 3; do (while :; do :; done) & done; echo up; sleep 300"
    async with await trial.spawn(trial.bash(script)) as process:
        assert await process.collected("stdout").wait_beyond(0)
        await process.terminate(grace=0.5)
        assert trial.alive() == []


@check("host_view")
async def test_ex_008_disposal_ends_a_memory_hog(trial: Trial) -> None:
    program = "blobs = []\nwhile sum(map(len, blobs)) < 10**8: blobs.append(bytearray(10**7))\nprint('up', flush=True)\nwhile 1: pass"
    async with await trial.spawn(trial.python(program)) as process:
        assert await process.collected("stdout").wait_beyond(0)
    assert process.exit is not None
    assert process.exit.termination is not None
    assert process.exit.termination.by == "dispose"
    assert trial.alive() == []


@check("whole_tree", "host_view")
async def test_ex_018_terminate_reaches_every_shape_of_descendant(trial: Trial) -> None:
    script = "\n".join(ESCAPES.values()) + "\ntrap '' TERM; echo up; sleep 300"
    async with await trial.spawn(trial.bash(script)) as process:
        assert await process.collected("stdout").wait_beyond(0)
        await process.terminate(grace=0.2)
        assert trial.alive() == []


async def _chase(trial: Trial, times: int) -> None:
    for _ in range(times):
        async with await trial.spawn(
            trial.python(CHAIN, survivors="keep", stdout=Null(), stderr=Null())
        ) as process:
            await process.wait_leader()
            await process.terminate(grace=0.0)
            assert trial.alive() == []


@check("whole_tree", "host_view")
async def test_ex_048_a_chain_of_quick_forks_does_not_get_away(trial: Trial) -> None:
    await _chase(trial, 3)


@check("whole_tree", "host_view", full=True)
async def test_ex_048_a_chain_of_quick_forks_does_not_get_away_in_thirty_tries(trial: Trial) -> None:
    await _chase(trial, 30)


@check("host_view")
async def test_ex_055_cancelling_the_owner_ends_the_tree(trial: Trial) -> None:
    process = await trial.spawn(trial.bash("echo partial; sleep 300 & sleep 300"))
    with anyio.CancelScope() as scope:
        async with process:
            assert await process.collected("stdout").wait_beyond(0)
            scope.cancel()
            await process.wait()
    assert scope.cancelled_caught, "the cancellation was swallowed"
    assert trial.alive() == []
    assert process.exit is not None
    assert process.collected("stdout").head() == b"partial\n", "what came so far stays readable"


@check("host_view")
async def test_a_start_that_is_cancelled_leaves_nothing(trial: Trial) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        async with await trial.spawn(trial.spec("sleep", "300")) as process:
            await process.wait()
    await trial.gone()


@check("host_view")
async def test_terminate_is_completed_when_its_caller_is_cancelled(trial: Trial) -> None:
    async with await trial.spawn(trial.bash("trap '' TERM; echo up; sleep 300 & wait; sleep 300")) as process:
        assert await process.collected("stdout").wait_beyond(0)
        with anyio.move_on_after(0.05):
            await process.terminate(grace=0.3)
        assert trial.alive() == []


async def _terminate_at_random(trial: Trial, times: int) -> None:
    for number in range(times):
        async with await trial.spawn(trial.spec("true")) as process:
            await anyio.sleep(number % 7 * 0.0005)
            ended = await process.terminate()
            assert (ended.exit_code, ended.signal) in ((0, None), (None, "SIGTERM"))


@check()
async def test_ex_039_ending_what_is_just_ending_never_raises(trial: Trial) -> None:
    await _terminate_at_random(trial, 40)


@check(full=True)
async def test_ex_039_ending_what_is_just_ending_never_raises_in_a_thousand_tries(trial: Trial) -> None:
    await _terminate_at_random(trial, 1000)


@check()
async def test_ex_038_a_signal_after_the_end_reaches_nobody(trial: Trial) -> None:
    async with await trial.spawn(trial.spec("true")) as process:
        ended = await process.wait()
        await process.signal("SIGKILL")
        assert await process.terminate() == ended


@check()
async def test_signals_reach_the_foreground_by_name(trial: Trial) -> None:
    script = "trap 'echo got; exit 6' USR1; echo ready; while :; do sleep 0.02; done"
    async with await trial.spawn(trial.bash(script)) as process:
        assert await process.collected("stdout").wait_beyond(0)
        await process.signal("SIGUSR1")
        assert (await process.wait()).exit_code == 6
        with pytest.raises(UnknownSignal) as caught:
            await process.signal("SIGNONSENSE")
        assert caught.value.facts["signal"] == "SIGNONSENSE"


async def _exhaust(trial: Trial, times: int) -> None:
    def held() -> tuple[int, int, int]:
        children = psutil.Process().children(recursive=True)
        zombies = sum(1 for child in children if _is_zombie(child))
        return len(os.listdir("/proc/self/fd")), threading.active_count(), zombies

    script = "trap '' TERM; sleep 300 & sleep 300"
    async with await trial.spawn(trial.bash(script)) as process:
        await process.terminate(grace=0.05)
    before = held()
    for _ in range(times):
        async with await trial.spawn(trial.bash(script)) as process:
            await process.terminate(grace=0.02)
    await trial.until(lambda: held() <= before)
    assert trial.alive() == []


def _is_zombie(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@check("host_view")
async def test_ex_051_stubborn_processes_leave_nothing_in_the_host(trial: Trial) -> None:
    await _exhaust(trial, 10)


@check("host_view", full=True)
async def test_ex_051_a_hundred_stubborn_processes_leave_nothing_in_the_host(trial: Trial) -> None:
    await _exhaust(trial, 100)


@check("host_view")
async def test_closing_the_runtime_ends_everything(trial: Trial) -> None:
    async with trial.subject.open() as runtime:
        processes = [
            await runtime.spawn(trial.bash("trap '' TERM; sleep 300 & sleep 300", grace=0.1))
            for _ in range(5)
        ]
        assert len(trial.alive()) >= 5
    assert trial.alive() == []
    assert all(process.exit is not None for process in processes)
    with pytest.raises(RuntimeClosed):
        await runtime.spawn(trial.spec("true"))


@check("host_view")
async def test_ex_067_the_hosts_own_group_is_left_alone(trial: Trial) -> None:
    async with await trial.spawn(
        trial.bash("echo $$ $(ps -o pgid= -p $$) $(ps -o sid= -p $$); sleep 300")
    ) as process:
        assert await process.collected("stdout").wait_beyond(0)
        pid, group, session = process.collected("stdout").head().split()
        assert int(pid) == int(group) == int(session) == process.pid
        assert int(group) != os.getpgrp()
        await process.terminate()
    # this process, its group and its parent are alive, or nobody would read this line
