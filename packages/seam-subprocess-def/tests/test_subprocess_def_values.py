"""The values of the contract."""

from __future__ import annotations

import importlib
import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import seam.subprocess_def as face
from seam.kernel import SeamError
from seam.subprocess_def import (
    Collect,
    Data,
    DetachedLifetime,
    Null,
    OpenPath,
    Outlet,
    OwnedLifetime,
    Pipe,
    SameAsStdout,
    SpawnFailed,
    SpawnSpec,
    SubprocessError,
    SubprocessRuntime,
    TerminalSpec,
)

SPEC = SpawnSpec(
    argv=("program", "argument"),
    cwd="/",
    env={"A": "b"},
    descriptors={3: Outlet(into=Pipe()), 4: Data(data=b"\xff"), 5: OpenPath(path="/", access="location")},
    stdin=Data(data=b"\x00\xff"),
    stdout=Collect(max_bytes=10, head_bytes=5, spill_bytes=100),
    stderr=SameAsStdout(),
    grace=1,
    drain=0.5,
    survivors="end",
    lifetime=DetachedLifetime(record="/record"),
)


def test_the_public_face_is_exact() -> None:
    public = {
        name for name, value in vars(face).items() if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert set(face.__all__) == public
    assert list(face.__all__) == sorted(face.__all__)


def test_every_public_class_is_documented() -> None:
    for name in face.__all__:
        value = getattr(face, name)
        if inspect.isclass(value):
            assert (value.__doc__ or "").strip(), name


def test_error_codes_are_unique_and_rooted() -> None:
    errors = [
        value for value in vars(face).values() if inspect.isclass(value) and issubclass(value, SeamError)
    ]
    assert all(issubclass(error, SubprocessError) for error in errors)
    assert len({error.code for error in errors}) == len(errors)
    assert all(error.retryable in ("yes", "no", "unknown") for error in errors)
    assert issubclass(face.TooManyProcesses, SpawnFailed)


def test_the_service_owns_its_key() -> None:
    assert SubprocessRuntime.service_key == "subprocess"


def test_a_spec_survives_json() -> None:
    assert SpawnSpec.model_validate_json(SPEC.model_dump_json()) == SPEC


@given(st.binary(), st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_any_bytes_and_arguments_survive_json(data: bytes, argv: list[str]) -> None:
    spec = SPEC.model_copy(update={"stdin": Data(data=data), "argv": tuple(argv)})
    assert SpawnSpec.model_validate_json(spec.model_dump_json()) == spec


def test_input_is_not_shown() -> None:
    assert "secret" not in repr(SPEC.model_copy(update={"stdin": Data(data=b"secret")}))


@pytest.mark.parametrize(
    "change",
    [
        {"argv": ()},
        {"grace": -1},
        {"drain": float("nan")},
        {"grace": float("inf")},
        {"survivors": "forget"},
        {"stdin": Collect(max_bytes=1, head_bytes=1, spill_bytes=0)},
        {"stdin": SameAsStdout()},
        {"stdout": SameAsStdout()},
        {"unknown": 1},
        {"descriptors": {"three": Null()}},
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SpawnSpec.model_validate(dict(SPEC) | change)


def test_windows_and_sizes_are_checked() -> None:
    with pytest.raises(ValidationError, match="head_bytes"):
        Collect(max_bytes=1, head_bytes=2, spill_bytes=0)
    with pytest.raises(ValidationError):
        Collect(max_bytes=-1, head_bytes=0, spill_bytes=0)
    with pytest.raises(ValidationError):
        TerminalSpec(argv=("x",), cwd="/", env={}, grace=1, survivors="end", columns=0, rows=1)


def test_values_are_frozen() -> None:
    with pytest.raises(ValidationError):
        SPEC.cwd = "/elsewhere"  # pyright: ignore[reportAttributeAccessIssue] - what is tested
    assert SPEC.model_copy(update={"lifetime": OwnedLifetime()}) != SPEC


def test_importing_the_contract_imports_no_kit() -> None:
    module = importlib.import_module("seam.subprocess_def")
    assert "conformance" not in module.__all__
