"""The text that a model reads is pinned here, sentence by sentence."""

from __future__ import annotations

import pytest
from exec_tool_fakes import LIMITS, result, stream, survivor
from hypothesis import given
from hypothesis import strategies as st

from seam.exec_def import Drain, HookFailure, ProcessRef, SandboxFacts
from seam.exec_tool._render import bounded, render
from seam.sandbox_def import Denial


def text(*arguments: object, **changes: object) -> str:
    return render(result(*arguments, **changes), job=None, limit=4000)  # pyright: ignore[reportArgumentType]


def test_exit_code_and_output() -> None:
    assert text(stdout=stream(b"hello\n")) == "Exit code 0 (0.4 s)\nhello"


def test_failure_keeps_output_and_code() -> None:
    assert text(exit_code=3, stdout=stream(b"no such file\n")) == "Exit code 3 (0.4 s)\nno such file"


def test_no_output_is_said() -> None:
    assert text() == "Exit code 0 (0.4 s)\n[no output]"


def test_stderr_is_told_apart() -> None:
    assert text(stdout=stream(b"out\n"), stderr=stream(b"err\n")) == "Exit code 0 (0.4 s)\nout\n[stderr]\nerr"


def test_ex_032_signal_death_names_the_signal_and_keeps_the_output() -> None:
    got = text("signalled", signal="SIGKILL", stdout=stream(b"before-kill\n"))
    assert got == ("Ended by signal SIGKILL (0.4 s); no limit of this call ended it.\nbefore-kill")


def test_time_limit() -> None:
    got = text("timed_out", timed_out=True, ended_by="timeout", stdout=stream(b"tick\n"))
    assert got == "Timed out after 10 s and was ended, with all its processes.\ntick"


def test_time_limit_of_a_command_that_traps_the_signal() -> None:
    got = text("timed_out", timed_out=True, exit_code=0, ended_by="timeout")
    assert got.startswith(
        "Timed out after 10 s and was ended, with all its processes (it then exited with 0)."
    )


def test_ex_071_a_lowered_timeout_is_said() -> None:
    got = text(limits=LIMITS.model_copy(update={"timeout": 600.0, "asked_timeout": 180000.0}))
    assert "[the timeout of 180000 s was lowered to the maximum of 600 s]" in got


def test_idle_aborted_and_lost() -> None:
    assert text("idle", limits=LIMITS.model_copy(update={"idle_timeout": 5.0})).startswith(
        "Ended after 5 s without output."
    )
    assert text("aborted", aborted=True).startswith("Aborted after 0.4 s.")
    assert text("lost", lost_reason="connection closed").startswith(
        "Lost: connection closed. Whether it finished is unknown."
    )


def test_cut_output_says_how_much_and_where_the_rest_is() -> None:
    cut = stream(
        b"ab",
        kept=((0, 1), (99, 100)),
        total=100,
        parts=(b"a", b"b"),
        losses=("window",),
        spill_path="/spill/x",
        spill_size=100,
    )
    assert text(stdout=cut) == (
        "Exit code 0 (0.4 s)\na\n[... 98 of 100 bytes left out; all of it is in /spill/x ...]\nb"
    )


def test_a_spill_that_is_not_complete_is_not_called_complete() -> None:
    cut = stream(
        b"a",
        kept=((0, 1),),
        total=100,
        losses=("window", "spill_limit"),
        spill_path="/spill/x",
        spill_size=50,
    )
    assert (
        "[the output of 100 bytes is not complete on disk either: its first 50 bytes are in /spill/x]"
        in text(stdout=cut)
    )


def test_survivors_are_told_with_the_way_to_keep_one() -> None:
    got = text(survivors=(survivor("sleep", "ended"), survivor("http.server", "kept")))
    assert (
        "[sleep (pid 7): still running when the command was over, and ended; to keep a process running, use background=true]"
        in got
    )
    assert "[http.server (pid 7): still running, kept until this session ends]" in got


def test_an_output_that_somebody_holds_open() -> None:
    got = text(drain=Drain(clean=False, held_by=(ProcessRef(pid=9, name="yes"),)))
    assert "[output was not read to its end: yes (pid 9) kept it open]" in got


def test_denials_say_what_and_how_to_ask() -> None:
    facts = SandboxFacts(
        mode="workspace-write",
        denials=(
            Denial(
                operation="write", target="/etc/x", rule="outside the writable roots", certainty="confirmed"
            ),
        ),
    )
    got = text(sandbox=facts)
    assert "[the sandbox (workspace-write) denied write /etc/x: outside the writable roots]" in got
    assert "[to ask for wider access for one call, call again with permissions and a justification]" in got


def test_masked_secrets_and_bytes_that_are_not_text() -> None:
    got = text(stdout=stream(b"x\xff\xfe\xfd", masked=2))
    assert "[3 bytes or sequences were not UTF-8 and are shown as \ufffd]" in got
    assert "[2 secret values were masked]" in got


def test_a_failing_hook_is_told() -> None:
    assert "[progress failed: ValueError: x]" in text(
        hook_failures=(HookFailure(hook="progress", error="ValueError: x"),)
    )


@pytest.mark.parametrize("limit", [500, 800, 4000])
def test_the_whole_is_bounded_and_notes_are_kept(limit: int) -> None:
    long = stream(b"x" * 100_000)
    got = render(result(stdout=long, survivors=(survivor("sleep", "ended"),)), job=None, limit=limit)
    assert len(got) <= limit
    assert "characters left out" in got
    assert got.endswith("use background=true]")


@given(st.text(max_size=300), st.integers(min_value=60, max_value=200))
def test_bounded_never_exceeds_and_keeps_both_ends(body: str, limit: int) -> None:
    got = bounded(body, limit)
    assert len(got) <= limit
    assert got == body or (got[0] == body[0] and got[-1] == body[-1])
