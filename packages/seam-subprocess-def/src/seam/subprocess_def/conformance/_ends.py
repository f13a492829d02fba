"""How a process ends by itself, and what is left then."""

from __future__ import annotations

import threading

import anyio
import pytest

from seam.subprocess_def._exit import ProcessExit
from seam.subprocess_def._streams import Null, SameAsStdout
from seam.subprocess_def.conformance._check import check
from seam.subprocess_def.conformance._trial import Trial

ESCAPES = {
    "setsid": "setsid sleep 300 >/dev/null 2>&1 </dev/null &",
    "double fork": "(setsid sh -c 'sleep 300 & exit' &) >/dev/null 2>&1",
    "empty environment": "env -i /usr/bin/setsid /bin/sleep 300 >/dev/null 2>&1 </dev/null &",
    "timeout": "timeout 300 sleep 300 >/dev/null 2>&1 &",
    "job control": "set -m; sleep 300 >/dev/null 2>&1 &",
}


@check()
async def test_the_exit_code_is_told(trial: Trial) -> None:
    for code in (0, 1, 2, 126, 127, 128, 137, 255):
        ran = await trial.run(trial.bash(f"exit {code}"))
        assert (ran.exit.exit_code, ran.exit.signal, ran.exit.unknown) == (code, None, None)


@check()
async def test_ex_031_death_by_signal_is_no_exit_code(trial: Trial) -> None:
    for name in ("KILL", "TERM", "SEGV"):
        ran = await trial.run(trial.bash(f"kill -{name} $$; sleep 10"))
        assert (ran.exit.exit_code, ran.exit.signal, ran.exit.unknown) == (None, f"SIG{name}", None)
    ran = await trial.run(trial.bash("sh -c 'kill -9 $$'; true"))
    assert (ran.exit.exit_code, ran.exit.signal) == (0, None)


@check()
async def test_output_survives_death_by_signal(trial: Trial) -> None:
    ran = await trial.run(trial.bash("printf 'before-kill\\n'; kill -KILL $$"))
    assert (ran.exit.signal, ran.out) == ("SIGKILL", b"before-kill\n")


@check()
async def test_ex_001_a_background_writer_does_not_keep_the_end_away(trial: Trial) -> None:
    with anyio.fail_after(10):
        ran = await trial.run(
            trial.bash("(while :; do echo tick; sleep 0.05; done) & sleep 0.3; echo fg-done")
        )
    assert ran.exit.exit_code == 0
    assert b"fg-done" in ran.out
    assert ran.exit.drain.state == "held"
    assert ran.exit.drain.streams != ()
    assert [survivor.fate for survivor in ran.exit.survivors] != []
    assert {survivor.fate for survivor in ran.exit.survivors} == {"ended"}


@check()
async def test_ex_002_a_silent_holder_of_one_stream_does_not_keep_the_end_away(trial: Trial) -> None:
    for kept, silenced in (("stderr", ">/dev/null"), ("stdout", "2>/dev/null")):
        with anyio.fail_after(10):
            ran = await trial.run(trial.bash(f"sleep 60 </dev/null {silenced} & echo ok"))
        assert (ran.exit.exit_code, ran.out) == (0, b"ok\n")
        assert (ran.exit.drain.state, ran.exit.drain.streams) == ("held", (kept,))


@check()
async def test_ex_068_a_killed_leader_whose_child_holds_the_streams(trial: Trial) -> None:
    with anyio.fail_after(10):
        ran = await trial.run(trial.spec("sh", "-c", "sleep 60 & kill -9 $$"))
    assert (ran.exit.exit_code, ran.exit.signal) == (None, "SIGKILL")
    assert "sleep" in [survivor.name for survivor in ran.exit.survivors]


@check()
async def test_streams_that_end_by_themselves_are_clean(trial: Trial) -> None:
    ran = await trial.run(trial.bash("echo out; echo err >&2"))
    assert (ran.exit.drain.state, ran.exit.drain.streams, ran.exit.survivors) == ("clean", (), ())
    assert ran.exit.termination is None


@check()
async def test_a_descendant_may_finish_within_the_drain(trial: Trial) -> None:
    ran = await trial.run(trial.bash("(sleep 0.2; echo late) & echo early", drain=10.0))
    assert (ran.exit.drain.state, ran.out, ran.exit.survivors) == ("clean", b"early\nlate\n", ())


async def _survivors(trial: Trial, script: str) -> tuple[ProcessExit, list[str]]:
    ran = await trial.run(trial.bash(script, stdout=Null(), stderr=Null()))
    return ran.exit, trial.alive()


@check("whole_tree", "host_view")
async def test_ex_018_no_shape_of_descendant_survives_the_end(trial: Trial) -> None:
    for shape, script in ESCAPES.items():
        ended, alive = await _survivors(trial, f"{script}\nexit 3")
        assert ended.exit_code == 3, shape
        assert alive == [], shape
        assert ended.survivors != (), shape
        assert {survivor.fate for survivor in ended.survivors} == {"ended"}, shape


@check("host_view")
async def test_ex_019_setsid_in_every_form(trial: Trial) -> None:
    """A leader of a session forks in setsid(1) and exits: the first form ends at once, as in an interactive
    shell with job control; what it started is a survivor."""
    for script, out in (
        ("setsid sleep 30", b""),
        ("setsid sleep 30; echo after", b"after\n"),
        ("setsid --fork sleep 30", b""),
    ):
        spec = trial.bash(script.replace("sleep 30", "sleep 0.6") if "after" in script else script)
        with anyio.fail_after(10):
            ran = await trial.run(spec)
        assert (ran.exit.exit_code, ran.out) == (0, out), script
        assert trial.alive() == [], script


@check("host_view")
async def test_ex_049_a_grandchild_whose_parent_has_gone_is_found(trial: Trial) -> None:
    spec = trial.spec("sh", "-c", "(sh -c 'sleep 300 & ') ; sleep 300", stdout=Null(), stderr=Null())
    async with await trial.spawn(spec) as process:
        await trial.until(lambda: len(trial.alive()) >= 3)
        await process.terminate()
        assert trial.alive() == []


@check()
async def test_survivors_can_be_kept_until_disposal(trial: Trial) -> None:
    spec = trial.bash("sleep 300 & echo started", survivors="keep")
    async with await trial.spawn(spec) as process:
        ended = await process.wait()
        assert ended.exit_code == 0
        kept = [survivor for survivor in ended.survivors if survivor.name == "sleep"]
        assert [survivor.fate for survivor in kept] == ["kept"]
        if trial.subject.capabilities.host_view:
            assert len(trial.alive()) == 1
    if trial.subject.capabilities.host_view:
        assert trial.alive() == []


@check()
async def test_a_kept_survivor_can_go_on_writing(trial: Trial) -> None:
    script = "(while [ ! -e go ]; do sleep 0.02; done; echo more) & echo first"
    async with await trial.spawn(trial.bash(script, survivors="keep")) as process:
        await process.wait()
        stream = process.collected("stdout")
        assert not stream.ended
        (trial.folder / "go").touch()
        assert await stream.wait_beyond(len(b"first\n"))
        await trial.until(lambda: stream.head() == b"first\nmore\n")


@check("killable_supervisor", "host_view")
async def test_a_command_that_kills_its_parent_frees_nobody(trial: Trial) -> None:
    script = "setsid sleep 300 & sleep 300 & kill -9 $PPID; sleep 300"
    async with await trial.spawn(trial.bash(script, stdout=Null(), stderr=Null())) as process:
        ended = await process.wait()
        assert (ended.exit_code, ended.signal) == (None, None)
        assert ended.unknown is not None
    await trial.gone()


@check()
async def test_ex_041_somebody_else_in_the_host_collects_all_children(trial: Trial) -> None:
    """A thread that waits for any child: the status is right, or said to be unknown; nothing hangs."""
    import os

    stop = threading.Event()

    def steal() -> None:
        while not stop.wait(0.001):
            try:
                os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                continue

    thief = threading.Thread(target=steal)
    thief.start()
    try:
        for _ in range(20):
            ran = await trial.run(trial.bash("exit 7"))
            assert ran.exit.exit_code == 7 or ran.exit.unknown is not None
    finally:
        stop.set()
        thief.join()


@check()
async def test_usage_and_times_are_told(trial: Trial) -> None:
    program = "import time\nend = time.process_time() + 0.2\nblob = bytearray(50_000_000)\nwhile time.process_time() < end: pass"
    ran = await trial.run(trial.python(program))
    usage = ran.exit.usage
    assert usage is not None
    assert usage.user_seconds + usage.system_seconds >= 0.15
    assert usage.peak_memory_bytes >= 50_000_000
    assert ran.exit.run_seconds >= 0.15
    assert ran.exit.started_at.utcoffset() is not None


@check("exact_memory")
async def test_peak_memory_is_the_commands_own(trial: Trial) -> None:
    ballast = bytearray(200_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    ran = await trial.run(trial.spec("true"))
    assert ran.exit.usage is not None
    assert 0 < ran.exit.usage.peak_memory_bytes < 50_000_000, "the host's own memory was counted"


@check()
async def test_results_survive_json(trial: Trial) -> None:
    ran = await trial.run(trial.bash("sleep 60 & echo ok", stderr=SameAsStdout()))
    assert ProcessExit.model_validate_json(ran.exit.model_dump_json()) == ran.exit
    assert ran.exit.containment.level != ""
    assert ran.exit.containment.whole_tree is trial.subject.capabilities.whole_tree
    assert ran.exit.containment.host_death is trial.subject.capabilities.host_death


@check()
async def test_many_tasks_wait_for_one_end(trial: Trial) -> None:
    found: list[ProcessExit] = []
    async with await trial.spawn(trial.bash("while [ ! -e go ]; do sleep 0.02; done; exit 4")) as process:
        assert process.exit is None
        assert not process.leader_exited

        async def wait() -> None:
            found.append(await process.wait())

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(wait)
            (trial.folder / "go").touch()
            await process.wait_leader()
            assert process.leader_exited
    assert [one.exit_code for one in found] == [4, 4, 4]
    assert process.exit == found[0] == await process.wait()


@check()
async def test_a_cancelled_waiter_ends_its_wait_and_nothing_else(trial: Trial) -> None:
    async with await trial.spawn(trial.bash("while [ ! -e go ]; do sleep 0.02; done; exit 4")) as process:
        with anyio.move_on_after(0.1) as scope:
            await process.wait()
        assert scope.cancelled_caught
        assert process.exit is None
        (trial.folder / "go").touch()
        assert (await process.wait()).exit_code == 4


@check()
async def test_execution_takes_specs_only(trial: Trial) -> None:
    fields = trial.spec("touch", "ran").model_dump()
    with pytest.raises(TypeError):
        await trial.runtime.spawn(fields)  # pyright: ignore[reportArgumentType] - what is tested
    assert not (trial.folder / "ran").exists()
