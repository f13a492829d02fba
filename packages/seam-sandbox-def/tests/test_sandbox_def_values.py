"""The values of the sandbox: rules by depth, honest enforcement, texts of any bytes, a light import."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import seam.sandbox_def as face
from seam.sandbox_def import (
    REMEDIES,
    AllowedHost,
    Enforcement,
    Finding,
    Gap,
    Limits,
    PathRule,
    Policy,
    Reason,
    SandboxUnavailable,
    is_wider,
    narrower,
    narrower_network,
)
from seam.testkit.face import face_problems


def rule(path: str) -> PathRule:
    return PathRule(path=path, reason=f"about {path}")


def test_the_public_face_is_exact() -> None:
    assert [text for text in face_problems(face) if "bound" in text] == []


def test_the_import_is_light() -> None:
    code = (
        "import sys; from seam.sandbox_def import *;"
        "bad = [m for m in ('anyio', 'asyncio', 'subprocess', 'ctypes') if m in sys.modules]; print(bad)"
    )
    alone = "import sys; from seam.kernel import *;" + code.split(";", 2)[2]
    shown = [
        subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
        for text in (code, alone)
    ]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_sb_002_the_most_specific_rule_wins_in_any_order(order: tuple[int, ...]) -> None:
    hidden = (rule("/s"), rule("/s/ws/proj/keys"), rule("/t"))
    policy = Policy(
        mode="workspace-write",
        writable=(rule("/s/ws/proj"),),
        readable=(rule("/s/ws"),),
        hidden=tuple(hidden[i] for i in order),
    )
    assert policy.access_of("/s/secret") == "none"
    assert policy.access_of("/s/ws/other") == "read"
    assert policy.access_of("/s/ws/proj/x") == "write"
    assert policy.access_of("/s/ws/proj/keys/k") == "none"
    assert policy.access_of("/sx") == "read"


def test_full_access_rules_nothing() -> None:
    policy = Policy(mode="full-access", hidden=(rule("/s"),))
    assert policy.access_of("/s") == "write"
    assert not policy.confines


def test_the_order_of_modes() -> None:
    assert is_wider("full-access", than="read-only")
    assert not is_wider("read-only", than="read-only")
    assert narrower("full-access", "read-only") == "read-only"
    assert narrower_network("allow-list", "full") == "allow-list"


def test_enforcement_cannot_lie() -> None:
    gap = Gap(code="unix-sockets", explanation="they connect")
    with pytest.raises(ValidationError):
        Enforcement(level="full", runtime="x", gaps=(gap,))
    with pytest.raises(ValidationError):
        Enforcement(level="partial", runtime="x")
    assert Enforcement.of("x", (), (gap,)).level == "partial"
    assert Enforcement.of("x", (), ()).level == "full"


def test_every_reason_has_a_remedy_and_the_error_says_it() -> None:
    assert set(REMEDIES) == set(Reason)
    error = SandboxUnavailable((Finding(reason=Reason.NO_BINARY),), "bwrap")
    assert "pip install" in str(error)
    assert "was not run" in str(error)


@given(st.binary(max_size=60).filter(lambda raw: b"\0" not in raw))
def test_a_path_of_any_bytes_survives_json(raw: bytes) -> None:
    path = os.path.normpath("/r/" + os.fsdecode(raw))
    before = Policy(mode="read-only", hidden=(PathRule(path=path, reason="r"),))
    after = Policy.model_validate_json(before.model_dump_json())
    assert after == before
    assert after.digest == before.digest


@pytest.mark.parametrize("path", ["", "relative", "/a\0b"])
def test_a_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(ValidationError):
        PathRule(path=path, reason="r")


@pytest.mark.parametrize(
    ("entry", "asked", "expected"),
    [
        ("pypi.org", "PyPI.org.", True),
        ("pypi.org", "evilpypi.org", False),
        ("*.pypi.org", "files.pypi.org", True),
        ("*.pypi.org", "a.b.pypi.org", True),
        ("*.pypi.org", "pypi.org", False),
        ("*.pypi.org", ".pypi.org", False),
        ("10.0.0.1", "10.0.0.1", True),
    ],
)
def test_hosts_match_by_whole_labels(entry: str, asked: str, expected: bool) -> None:
    assert AllowedHost(host=entry).matches(asked, 443) is expected
    assert not AllowedHost(host=entry).matches(asked, 80)


@pytest.mark.parametrize("host", ["", "*", "a.*.b", "http://x", "a b", "-" * 64, "ex ample"])
def test_a_host_that_is_none_is_refused(host: str) -> None:
    with pytest.raises(ValidationError):
        AllowedHost(host=host)


def test_limits_narrow_field_by_field() -> None:
    left = Limits(processes=10, memory=None, cpu_time=5)
    right = Limits(processes=None, memory=7, cpu_time=9)
    both = left.narrowed(right)
    assert (both.processes, both.memory, both.cpu_time) == (10, 7, 5)


def test_a_changed_copy_has_a_digest_and_rulings_of_its_own() -> None:
    policy = Policy(mode="workspace-write", writable=(rule("/s"),))
    assert policy.access_of("/s/x") == "write"
    before = policy.digest
    narrow = policy.model_copy(update={"mode": "read-only", "writable": ()})
    assert narrow.access_of("/s/x") == "read"
    assert narrow.digest != before == policy.digest
    assert policy.model_copy() == policy
