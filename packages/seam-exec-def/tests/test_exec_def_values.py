"""The values of the contract: frozen, serialisable, and honest in what they say of themselves."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import seam.exec_def as face
from seam.exec_def import (
    Containment,
    Drain,
    Environment,
    ExecRequest,
    ExecResult,
    ExecSpec,
    Isolation,
    KeptRange,
    Limits,
    OutputWindow,
    SandboxFacts,
    SecretRef,
    StreamOutput,
    TimeSplit,
)
from seam.sandbox_def import Policy
from seam.testkit.face import face_problems

WINDOW = OutputWindow(head=100, tail=100, spill=1000)


def spec(**changes: object) -> ExecSpec:
    """Return a spec, with changes."""
    fields: dict[str, object] = {
        "executor": "local",
        "executor_version": "1",
        "dialect": "bash",
        "command": "true",
        "argv": ("/bin/bash", "-c", "true"),
        "workdir": "/",
        "environment": {"PATH": "/bin", "TOKEN": SecretRef(secret="token")},
        "streams": "separate",
        "limits": Limits(timeout=10.0, grace=2.0, drain=0.5),
        "survivors": "end",
        "isolation": Isolation(mode="full-access"),
        "output": WINDOW,
    }
    return ExecSpec.model_validate({**fields, **changes})


def stream(total: int, *parts: tuple[int, bytes]) -> StreamOutput:
    """Return a stream's output: parts with where they begin."""
    return StreamOutput(
        parts=tuple(part for _, part in parts),
        kept=tuple(KeptRange(start, start + len(part)) for start, part in parts),
        total=total,
        losses=("window",) if total > sum(len(part) for _, part in parts) else (),
    )


def result(**changes: object) -> ExecResult:
    """Return the result of `true`, with changes."""
    fields: dict[str, object] = {
        "cause": "exited",
        "ended_by": "command",
        "exit_code": 0,
        "signal": None,
        "stdout": stream(0),
        "stderr": None,
        "drain": Drain(clean=True),
        "containment": Containment(level="launcher", whole_tree=True, host_death=True),
        "sandbox": SandboxFacts(mode="full-access"),
        "started_at": datetime(2030, 1, 1, tzinfo=UTC),
        "times": TimeSplit(queue=0.0, spawn=0.001, run=0.002, drain=0.0),
        "limits": Limits(timeout=10.0, grace=2.0, drain=0.5),
    }
    return ExecResult.model_validate({**fields, **changes})


def test_the_public_face_is_exact() -> None:
    assert face_problems(face) == []


def test_a_spec_cannot_be_changed() -> None:
    one = spec()
    with pytest.raises(ValidationError):
        one.command = "rm -rf /"  # type: ignore[misc]  # what is tested
    with pytest.raises(TypeError):
        one.environment["PATH"] = "/tmp"  # type: ignore[index]  # what is tested


def test_a_spec_goes_through_json_unchanged() -> None:
    one = spec(stdin=b"\x00\xff")
    again = ExecSpec.model_validate_json(one.model_dump_json())
    assert again == one
    assert again.digest == one.digest
    assert again.environment["TOKEN"] == SecretRef(secret="token")


@pytest.mark.parametrize(
    "change",
    [
        {"command": "false"},
        {"argv": ("/bin/dash", "-c", "true")},
        {"workdir": "/tmp"},
        {"environment": {"PATH": "/bin"}},
        {"environment": {"PATH": "/bin", "TOKEN": SecretRef(secret="other")}},
        {"environment": {"PATH": "/bin", "TOKEN": "token"}},
        {"stdin": b""},
        {"streams": "merged"},
        {"limits": Limits(timeout=11.0, grace=2.0, drain=0.5)},
        {"survivors": "keep"},
        {"isolation": Isolation(mode="read-only")},
        {"isolation": Isolation(mode="full-access", policy=Policy(mode="full-access"))},
        {"executor": "sandbox"},
        {"executor_version": "2"},
    ],
    ids=str,
)
def test_the_digest_covers(change: dict[str, object]) -> None:
    assert spec(**change).digest != spec().digest


def test_the_digest_does_not_cover_the_output_window() -> None:
    assert spec(output=OutputWindow(head=1, tail=1, spill=1)).digest == spec().digest


def test_the_digest_is_the_same_in_every_process_and_order() -> None:
    turned = spec(environment={"TOKEN": SecretRef(secret="token"), "PATH": "/bin"})
    assert turned.canonical == spec().canonical
    assert json.loads(spec().canonical)["environment"]["TOKEN"] == {"secret": "token"}


def test_a_workdir_that_is_not_utf8_still_has_a_digest() -> None:
    assert spec(workdir="/tmp/\udcff").digest != spec().digest


def test_return_by_is_timeout_grace_and_drain() -> None:
    assert spec().limits.return_by == 12.5


@given(
    command=st.text(),
    timeout=st.none() | st.floats(),
    variables=st.dictionaries(
        st.text(), st.none() | st.text() | st.builds(SecretRef, secret=st.text(min_size=1))
    ),
    stdin=st.none() | st.binary(),
)
def test_a_request_takes_anything_that_has_the_right_types(
    command: str, timeout: float | None, variables: dict[str, str | SecretRef | None], stdin: bytes | None
) -> None:
    request = ExecRequest(
        command=command, timeout=timeout, environment=Environment(variables=variables), stdin=stdin
    )
    assert request.command == command
    assert request.environment is not None
    assert dict(request.environment.variables) == variables


def test_a_request_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ValidationError, match="timeout_ms"):
        ExecRequest.model_validate({"command": "true", "timeout_ms": 5})


@pytest.mark.parametrize(
    ("facts", "success"),
    [
        ({}, True),
        ({"exit_code": 1}, False),
        ({"cause": "signalled", "exit_code": None, "signal": "SIGKILL"}, False),
        ({"cause": "timed_out", "timed_out": True, "exit_code": 0}, False),
        ({"cause": "aborted", "aborted": True, "exit_code": 0}, False),
        ({"cause": "lost", "exit_code": None, "lost_reason": "connection reset"}, False),
        ({"timed_out": True}, True),
    ],
    ids=str,
)
def test_success_is_the_commands_own_end_with_zero(facts: dict[str, object], success: bool) -> None:
    assert result(**facts).success is success


def test_a_result_goes_through_json_unchanged() -> None:
    one = result(stdout=stream(2, (0, b"\x00\xff")))
    assert ExecResult.model_validate_json(one.model_dump_json()) == one


def test_the_text_of_a_truncated_stream_says_how_much_is_left_out() -> None:
    cut = stream(10, (0, b"a"), (9, b"b"))
    assert cut.truncated
    assert cut.left_out == 8
    assert cut.text == "a\n[... 8 of 10 bytes left out ...]\nb"


def test_the_text_of_a_tail_alone_begins_with_the_statement() -> None:
    cut = stream(10, (9, b"b"))
    assert cut.text == "[... 9 of 10 bytes left out ...]\nb"


def test_the_text_of_a_whole_stream_is_the_stream() -> None:
    assert stream(2, (0, b"ab")).text == "ab"


def test_a_head_alone_ends_with_the_statement() -> None:
    assert stream(10, (0, "aü".encode()[:2])).text == "a\n[... 8 of 10 bytes left out ...]\n"


def test_the_text_of_a_tail_begins_after_what_began_before_it() -> None:
    tail = StreamOutput(
        parts=(b"8;5;196mred",),
        kept=(KeptRange(90, 101),),
        total=101,
        before=b"text\x1b[3",
        losses=("window",),
    )
    assert tail.texts == ("red",)


def test_a_stream_that_goes_on_shows_no_half_character() -> None:
    half = StreamOutput(parts=("aü".encode()[:2],), kept=(KeptRange(0, 2),), total=2, goes_on=True)
    assert (half.text, half.decode_losses) == ("a", 0)


def test_the_statement_names_the_file_only_if_everything_is_in_it() -> None:
    whole = stream(10, (9, b"b")).model_copy(update={"spill_path": "/spill/x", "spill_size": 10})
    assert "all of it is in /spill/x" in whole.text
    assert "/spill/x" not in whole.model_copy(update={"spill_size": 5}).text
