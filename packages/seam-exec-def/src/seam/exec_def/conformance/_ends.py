"""How commands end: exit codes, signals, limits; and that the result is there in time."""

from __future__ import annotations

import pytest

from seam.exec_def import Limits
from seam.exec_def.conformance._check import check
from seam.exec_def.conformance._subject import Settings
from seam.exec_def.conformance._trial import Stopwatch, Trial

SLACK = 8.0
"""Seconds that a busy machine may add to a bound; what is guarded against takes much longer."""


@check()
async def test_exit_codes_are_told_as_they_are(trial: Trial) -> None:
    for code in (0, 1, 2, 77, 126, 127, 255):
        result = await trial.run(f"exit {code}")
        assert (result.cause, result.ended_by, result.exit_code, result.signal) == (
            "exited",
            "command",
            code,
            None,
        )
        assert result.success is (code == 0)


@check()
async def test_a_result_accounts_for_time_usage_and_limits(trial: Trial) -> None:
    result = await trial.run("for i in $(seq 20000); do :; done; sleep 0.2", timeout=30.0)
    assert result.times.run >= 0.2
    assert result.times.spawn >= 0
    assert result.times.queue >= 0
    assert result.usage.cpu_user is not None
    assert result.usage.peak_memory is not None
    assert result.usage.peak_memory > 500_000
    assert result.limits.timeout == 30.0
    assert result.started_at.tzinfo is not None
    assert result.containment.level


@check()
async def test_ex_031_a_signal_is_told_by_name_and_never_as_success(trial: Trial) -> None:
    for command, signal in (
        ("kill -9 $$", "SIGKILL"),
        ("kill -TERM $$", "SIGTERM"),
        ("kill -SEGV $$", "SIGSEGV"),
    ):
        result = await trial.run(command)
        assert (result.cause, result.exit_code, result.signal) == ("signalled", None, signal)
        assert not result.success
    child = await trial.run("sh -c 'kill -SEGV $$'; exit $?")
    assert (child.cause, child.exit_code) == ("exited", 139)
    goes_on = await trial.run("sh -c 'kill -9 $$'; true")
    assert goes_on.success


@check()
async def test_ex_032_output_before_a_kill_is_kept(trial: Trial) -> None:
    result = await trial.run("printf 'before-kill\\n'; kill -KILL $$")
    assert not result.success
    assert result.signal == "SIGKILL"
    assert result.stdout.text == "before-kill\n"


@check()
async def test_ex_068_a_killed_shell_does_not_wait_for_its_child(trial: Trial) -> None:
    mark, watch = trial.mark(), Stopwatch()
    result = await trial.run(f"sleep {mark} & kill -9 $$", timeout=60.0)
    assert result.signal == "SIGKILL"
    assert watch.seconds < SLACK
    await trial.assert_gone(mark)


@check()
async def test_a_timeout_is_a_result_with_partial_output(trial: Trial) -> None:
    mark, watch = trial.mark(), Stopwatch()
    result = await trial.run(f"echo before; sleep {mark}", timeout=0.5)
    assert (result.cause, result.ended_by, result.timed_out) == ("timed_out", "timeout", True)
    assert not result.success
    assert result.stdout.text == "before\n"
    assert 0.5 <= watch.seconds < result.limits.return_by + SLACK
    await trial.assert_gone(mark)


@check()
async def test_a_command_that_exits_with_0_when_it_is_ended_has_still_timed_out(trial: Trial) -> None:
    result = await trial.run("trap 'echo bye; exit 0' TERM; sleep 60 & wait", timeout=0.5)
    assert (result.cause, result.timed_out, result.exit_code) == ("timed_out", True, 0)
    assert not result.success
    assert result.stdout.text == "bye\n"


@check()
async def test_an_idle_timeout_ends_what_says_nothing(trial: Trial) -> None:
    result = await trial.run("echo a; sleep 0.2; echo b >&2; sleep 60", timeout=50.0, idle_timeout=1.0)
    assert (result.cause, result.ended_by, result.timed_out) == ("idle", "idle", False)
    assert result.stdout.text == "a\n"


@check()
async def test_output_on_either_stream_keeps_an_idle_timeout_away(trial: Trial) -> None:
    result = await trial.run(
        "for i in 1 2 3 4 5 6; do echo $i >&$((i % 2 + 1)); sleep 0.3; done", timeout=50.0, idle_timeout=1.5
    )
    assert result.success


@check()
async def test_ex_003_a_fifo_pair_does_not_outlive_its_timeout(trial: Trial) -> None:
    mark, watch = trial.mark(), Stopwatch()
    command = (
        f"P=$(mktemp -u); mkfifo $P; (while true; do echo child; sleep 0.1; done; : {mark}) > $P & cat $P"
    )
    result = await trial.run(command, timeout=1.0, variables={"SEAM_MARK": mark})
    assert result.timed_out
    assert "child\n" in result.stdout.text
    assert watch.seconds < result.limits.return_by + SLACK
    await trial.assert_gone(mark)


@check()
async def test_ex_020_what_ignores_the_polite_signal_is_killed(trial: Trial) -> None:
    mark = trial.mark()
    result = await trial.run(
        "trap '' TERM; while :; do sleep 0.1; done", timeout=0.5, variables={"SEAM_MARK": mark}
    )
    assert (result.cause, result.signal) == ("timed_out", "SIGKILL")
    await trial.assert_gone(mark)


@check()
async def test_ex_021_ignored_signals_and_jobs_do_not_prolong_a_timeout(trial: Trial) -> None:
    for command in (
        "trap '' TERM; sleep {mark}",
        "trap '' TERM; sleep {mark}; echo done",
        "sleep {mark} & wait",
        "trap '' TERM; sleep {mark} & wait",
    ):
        mark, watch = trial.mark(), Stopwatch()
        result = await trial.run(command.format(mark=mark), timeout=0.4)
        assert result.timed_out, command
        assert watch.seconds < result.limits.return_by + SLACK, command
        await trial.assert_gone(mark)


@check()
async def test_ex_022_a_stopped_command_is_ended(trial: Trial) -> None:
    mark, watch = trial.mark(), Stopwatch()
    result = await trial.run("kill -STOP $$; echo resumed", timeout=0.5, variables={"SEAM_MARK": mark})
    assert result.timed_out
    assert watch.seconds < result.limits.return_by + SLACK
    await trial.assert_gone(mark)


@check(settings=Settings(max_timeout=0.7))
async def test_ex_071_a_timeout_beyond_the_maximum_is_lowered_and_told(trial: Trial) -> None:
    result = await trial.run("sleep 30", timeout=180_000.0)
    assert result.timed_out
    assert (result.limits.timeout, result.limits.asked_timeout) == (0.7, 180_000.0)


@check()
async def test_ex_035_a_syntax_error_is_the_shells_own(trial: Trial) -> None:
    odd = await trial.run("awk 'BEGIN{print \"a\\nb\"}'; shopt -s extglob\ntouch x; echo !(y)")
    assert odd.stdout.text == "a\nb\nx\n"
    assert odd.success
    wrong = await trial.run("echo 'unterminated")
    assert wrong.exit_code == 2
    assert wrong.stderr is not None
    assert "unexpected EOF" in wrong.stderr.text


@check()
async def test_ex_041_every_exit_is_told_and_none_is_made_up(trial: Trial) -> None:
    for number in range(40):
        code = number % 5 + 1
        result = await trial.run(f"exit {code}", timeout=30.0 if number % 2 else 0.001)
        assert result.exit_code == code or (result.timed_out and result.exit_code is None), result
        assert result.exit_code != 0


@check(full=True)
async def test_ex_041_every_exit_is_told_a_thousand_times(trial: Trial) -> None:
    for number in range(1000):
        result = await trial.run("exit 3", timeout=30.0 if number % 2 else 0.001)
        assert result.exit_code == 3 or (result.timed_out and result.exit_code is None), result


@check()
async def test_the_bound_of_a_spec_is_timeout_grace_and_drain(trial: Trial) -> None:
    limits = trial.spec("true", timeout=7.0).limits
    assert limits.return_by == pytest.approx(limits.timeout + limits.grace + limits.drain)
    assert limits == Limits(timeout=7.0, grace=0.5, drain=0.3)
