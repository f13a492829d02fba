"""What a command starts: nothing of it waits, hangs or stays."""

from __future__ import annotations

import anyio
import psutil

from seam.exec_def import ExecResult
from seam.exec_def.conformance._check import check
from seam.exec_def.conformance._ends import SLACK
from seam.exec_def.conformance._subject import Settings
from seam.exec_def.conformance._trial import Stopwatch, Trial

RACES = 3
"""How often a race is tried in the short tier."""

DOUBLE_FORK = """python3 -c "
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep({mark})
    os._exit(0)
time.sleep({mark})
" """

FORK_CHAIN = """python3 -c "
import os, time
for i in range(1500):
    if os.fork(): os._exit(0)
    time.sleep(0.01)
" """


@check("outlives_shell")
async def test_ex_001_a_background_child_that_keeps_writing_does_not_hold_the_result(trial: Trial) -> None:
    mark, watch = trial.mark(), Stopwatch()
    result = await trial.run(
        "(while :; do echo tick; sleep 0.2; done) & sleep 1; echo fg-done",
        timeout=60.0,
        variables={"SEAM_MARK": mark},
    )
    assert (result.exit_code, result.timed_out) == (0, False)
    assert "fg-done\n" in result.stdout.text
    assert 1.0 <= watch.seconds < SLACK + 1
    assert not result.drain.clean
    assert [survivor.fate for survivor in result.survivors] == ["ended"] * len(result.survivors)
    assert result.survivors
    await trial.assert_gone(mark)


_UNTIL_IT_SLEEPS = 'until read -r name < /proc/$!/comm && [ "$name" = sleep ]; do :; done; echo started'
"""Between fork and exec a child still has the shell's name."""


@check()
async def test_ex_002_a_silent_child_on_one_stream_does_not_hold_the_result(trial: Trial) -> None:
    for closed in ("</dev/null >/dev/null", "</dev/null 2>/dev/null"):
        mark, watch = trial.mark(), Stopwatch()
        result = await trial.run(f"sleep {mark} {closed} & echo ok", timeout=60.0)
        assert result.success
        assert result.stdout.text == "ok\n"
        assert watch.seconds < SLACK
        await trial.assert_gone(mark)


@check()
async def test_survivors_are_ended_and_named(trial: Trial) -> None:
    mark = trial.mark()
    result = await trial.run(f"sleep {mark} </dev/null >/dev/null 2>&1 & {_UNTIL_IT_SLEEPS}", timeout=60.0)
    assert result.success
    assert [(survivor.name, survivor.fate) for survivor in result.survivors] == [("sleep", "ended")]
    assert result.drain.clean
    await trial.assert_gone(mark)


@check("keeps_survivors", "host_view", settings=Settings(survivors="keep"))
async def test_survivors_are_kept_where_that_is_asked_for(trial: Trial) -> None:
    mark = trial.mark()
    result = await trial.run(f"sleep {mark} </dev/null >/dev/null 2>&1 & {_UNTIL_IT_SLEEPS}", timeout=60.0)
    assert [(survivor.name, survivor.fate) for survivor in result.survivors] == [("sleep", "kept")]
    assert trial.alive(mark)


@check()
async def test_ex_005_busy_children_do_not_outlive_a_timeout(trial: Trial) -> None:
    mark = trial.mark()
    result = await trial.run(
        "ulimit -t 20; for i in 1 2 3; do (while :; do :; done) & done; sleep 300",
        timeout=0.7,
        variables={"SEAM_MARK": mark},
    )
    assert result.timed_out
    await trial.assert_gone(mark)


@check()
async def test_ex_008_a_growing_process_is_gone_at_its_timeout(trial: Trial) -> None:
    mark = trial.mark()
    grow = f"b=[]\nimport time\nwhile len(b) < 200: b.append(bytearray(10**6)); time.sleep(0.01)\ntime.sleep({mark})"
    command = f"ulimit -v 4000000; python3 -c '{grow}'"
    result = await trial.run(command, timeout=0.8)
    assert result.timed_out
    await trial.assert_gone(mark)


@check("whole_tree")
async def test_ex_018_a_daemon_that_forked_twice_is_found(trial: Trial) -> None:
    mark = trial.mark()
    result = await trial.run(DOUBLE_FORK.format(mark=mark), timeout=1.0)
    assert result.timed_out
    await trial.assert_gone(mark)


@check("whole_tree")
async def test_a_daemon_without_environment_in_a_session_of_its_own_is_found(trial: Trial) -> None:
    mark = trial.mark()
    result = await trial.run(
        f"env -i setsid sleep {mark} </dev/null >/dev/null 2>&1 & sleep 0.3; echo ok", timeout=60.0
    )
    assert result.success
    assert "sleep" in [survivor.name for survivor in result.survivors]
    await trial.assert_gone(mark)


@check("whole_tree", "outlives_shell")
async def test_ex_019_a_new_session_neither_hangs_nor_stays(trial: Trial) -> None:
    for command, text in (
        ("setsid sleep {mark}", ""),
        ("setsid sleep {mark}; echo after", "after\n"),
        ("setsid --fork sleep {mark}", ""),
    ):
        mark, watch = trial.mark(), Stopwatch()
        result = await trial.run(command.format(mark=mark), timeout=1.0)
        assert watch.seconds < result.limits.return_by + SLACK
        if result.timed_out:
            assert not result.success
        else:
            assert (result.exit_code, result.stdout.text) == (0, text)
            assert "sleep" in [survivor.name for survivor in result.survivors]
        await trial.assert_gone(mark)


async def _race_a_fork_chain(trial: Trial, times: int) -> None:
    for _ in range(times):
        mark = trial.mark()
        result = await trial.run(FORK_CHAIN, timeout=0.6, variables={"SEAM_MARK": mark})
        assert result.timed_out or result.survivors
        await trial.assert_gone(mark)


@check("whole_tree")
async def test_ex_048_a_chain_of_quick_forks_does_not_get_away(trial: Trial) -> None:
    await _race_a_fork_chain(trial, RACES)


@check("whole_tree", full=True)
async def test_ex_048_a_chain_of_quick_forks_does_not_get_away_in_thirty_tries(trial: Trial) -> None:
    await _race_a_fork_chain(trial, 30)


@check("whole_tree")
async def test_ex_049_a_grandchild_without_a_parent_is_found(trial: Trial) -> None:
    mark = trial.mark()
    result = await trial.run(f"sh -c '(sh -c \"sleep {mark} & \" ) ; sleep {mark}'", timeout=0.7)
    assert result.timed_out
    await trial.assert_gone(mark)


AT_ONCE = 12
"""Commands beside each other: more than an executor keeps anything for."""


async def _end_with_holders(trial: Trial, times: int) -> None:
    async def once() -> ExecResult:
        return await trial.run("trap '' TERM; sleep 60 & wait; sleep 60", timeout=0.2)

    me = psutil.Process()

    def held() -> tuple[int, int, int]:
        return me.num_fds(), me.num_threads(), len(me.children(recursive=True))

    # What an executor keeps for the next command is no leak: commands beside each other make it keep all that it ever
    # will, and commands after each other add nothing to that.
    async with anyio.create_task_group() as beside:
        for _ in range(AT_ONCE):
            beside.start_soon(once)
    assert (await once()).timed_out
    most = held()
    for _ in range(times):
        assert (await once()).timed_out

    def grown() -> bool:
        return any(now > before for now, before in zip(held(), most, strict=True))

    with anyio.move_on_after(2.0):
        while grown():
            await anyio.sleep(0.02)
    assert not grown(), (held(), most)


@check("host_view")
async def test_ex_051_timeouts_leave_no_descriptor_thread_or_zombie(trial: Trial) -> None:
    await _end_with_holders(trial, 5)


@check("host_view", full=True)
async def test_ex_051_a_hundred_timeouts_leave_no_descriptor_thread_or_zombie(trial: Trial) -> None:
    await _end_with_holders(trial, 100)


async def _run_many_with_slow_rc(trial: Trial, count: int) -> None:
    mark = trial.mark()
    (trial.folder / ".bashrc").write_text(f"sleep {mark} & source <(sleep {mark})\n")
    variables = {"HOME": str(trial.folder)}
    results: list[ExecResult] = []

    async def once() -> None:
        results.append(await trial.run("true", variables=variables, timeout=60.0))

    async with anyio.create_task_group() as group:
        for _ in range(count):
            group.start_soon(once)
    assert len(results) == count
    assert all(result.success for result in results)
    await trial.assert_gone(mark)


@check()
async def test_ex_060_start_up_files_are_not_read(trial: Trial) -> None:
    await _run_many_with_slow_rc(trial, 8)


@check(full=True)
async def test_ex_060_fifty_calls_beside_each_other_read_no_start_up_files(trial: Trial) -> None:
    await _run_many_with_slow_rc(trial, 50)
