"""The message to the launcher, and what the launcher answers."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seam.sandbox_def import Limits
from seam.sandbox_landlock import Message, read_launcher_status

TEXT = st.binary(max_size=40).filter(lambda raw: b"\0" not in raw).map(os.fsdecode)


@given(values=st.lists(TEXT, max_size=8))
def test_values_of_any_bytes_stay_fields_of_their_own(values: list[str]) -> None:
    message = Message(status=None)
    for value in values:
        message.add("cwd", value)
    fields = message.encode(b"\0" * 16).split(b"\0")
    assert fields[0] == b"seam-confine 1"
    assert fields[1 : 1 + len(values)] == [b"cwd=" + os.fsencode(value) for value in values]
    assert fields[1 + len(values)] == b"filter=16"


def test_a_nul_byte_would_begin_another_field_and_is_refused() -> None:
    with pytest.raises(ValueError, match="NUL"):
        Message(status=65).add("cwd", "/a\0caps=")


@pytest.mark.parametrize("name", ["", "A=B"])
def test_names_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="name of a variable"):
        Message(status=65).environment({name: "x"})


def test_a_large_environment_fits() -> None:
    message = Message(status=65)
    message.environment({"BIG": "x" * (1 << 20)})
    assert len(message.encode()) > 1 << 20


def test_limits_that_a_group_enforces_are_left_out() -> None:
    message = Message(status=None)
    message.limit(Limits(processes=5, memory=6), without=frozenset({"memory"}))
    encoded = message.encode()
    assert b"limit=6:5" in encoded
    assert b"limit=9:6" not in encoded


@pytest.mark.parametrize(
    ("said", "started", "code", "signal"),
    [
        (b"ready 0\n", True, None, None),
        (b"ready 0\nexit 3\n", True, 3, None),
        (b"ready 0\nsurvivor 7 a b\nsignal 9\n", True, None, 9),
        (b"", False, None, None),
        (b"exit 0\n", False, None, None),
        (b"failed cwd 2\n", False, None, None),
        (b"ready 0\nfailed exec 2\nexit 125\n", False, None, None),
        (b"\xff\xfe\n", False, None, None),
        (b"ready\n", False, None, None),
        (b"ready 0", False, None, None),
    ],
)
def test_what_the_launcher_says(said: bytes, started: bool, code: int | None, signal: int | None) -> None:
    status = read_launcher_status(said)
    assert (status.started, status.exit_code, status.signal) == (started, code, signal)
    assert status.started or status.failure


@given(said=st.binary(max_size=80))
def test_garbage_never_raises(said: bytes) -> None:
    assert read_launcher_status(said).started in (True, False)


def test_who_was_left_is_named() -> None:
    assert read_launcher_status(b"ready 0\nsurvivor 7 a b\nexit 0\n").survivors == ((7, "a b"),)
