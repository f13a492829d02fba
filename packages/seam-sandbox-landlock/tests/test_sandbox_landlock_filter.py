"""The seccomp program, decided by an interpreter of its instructions: what is permitted and what is not."""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seam.sandbox_landlock import ARCHITECTURES, FilterProfile, assemble

X86 = ARCHITECTURES["x86_64"]
ARM = ARCHITECTURES["aarch64"]
OPEN = FilterProfile(inet="all", own_processes=True, own_ipc=True)
CLOSED = FilterProfile(inet="none", own_processes=False, own_ipc=False)
TCP = FilterProfile(inet="tcp", own_processes=False, own_ipc=False)
ALLOWED, FORBIDDEN, ABSENT = 0, errno.EPERM, errno.ENOSYS


def decide(program: bytes, number: int, *args: int, audit: int = X86.audit) -> int:
    """0 where the call is allowed, else the error number that it gets."""
    data = struct.pack("<IIQ6Q", number, audit, 0, *[*args, *([0] * (6 - len(args)))])
    word, at = 0, 0
    while True:
        code, true, false, value = struct.unpack_from("<HBBI", program, at * 8)
        at += 1
        match code:
            case 0x20:
                word = struct.unpack_from("<I", data, value)[0]
            case 0x54:
                word &= value
            case 0x15:
                at += true if word == value else false
            case 0x35:
                at += true if word >= value else false
            case 0x45:
                at += true if word & value else false
            case 0x06:
                return 0 if value == 0x7FFF0000 else value & 0xFFFF
            case _:
                raise AssertionError(f"unknown instruction {code:#x}")


def call(profile: FilterProfile, name: str, *args: int) -> int:
    number = X86.number(name)
    assert number is not None
    return decide(assemble(profile, X86), number, *args)


@pytest.mark.parametrize("profile", [OPEN, CLOSED, TCP])
@pytest.mark.parametrize("number", [0, 1, 2, 3, 9, 59, 257, 231, 24, 462])
def test_ordinary_calls_pass(profile: FilterProfile, number: int) -> None:
    assert decide(assemble(profile, X86), number) == ALLOWED


@pytest.mark.parametrize(
    "name", ["mount", "bpf", "keyctl", "setns", "open_by_handle_at", "pidfd_getfd", "reboot"]
)
def test_dangerous_calls_do_not(name: str) -> None:
    assert call(OPEN, name) == FORBIDDEN


def test_clone3_and_io_uring_are_answered_as_if_the_kernel_had_none() -> None:
    assert call(OPEN, "clone3") == ABSENT
    assert call(OPEN, "io_uring_setup") == ABSENT


def test_threads_pass_and_namespaces_do_not() -> None:
    assert call(OPEN, "clone", 0x3D0F00) == ALLOWED
    assert call(OPEN, "clone", 0x10000000 | 17) == FORBIDDEN
    assert call(OPEN, "unshare", 0x400) == ALLOWED
    assert call(OPEN, "unshare", 0x80) == FORBIDDEN


def test_sb_025_pushing_characters_into_a_terminal_is_refused_whatever_the_high_bits_say() -> None:
    assert call(OPEN, "ioctl", 0, 0x5412) == FORBIDDEN
    assert call(OPEN, "ioctl", 0, 0x1_0000_5412) == FORBIDDEN
    assert call(OPEN, "ioctl", 0, 0x5413) == ALLOWED


def test_sb_013_only_connected_pairs_may_be_made_of_unix_sockets() -> None:
    assert call(OPEN, "socket", 1, 1, 0) == FORBIDDEN
    assert call(OPEN, "socketpair", 1, 1 | 0o2000000, 0) == ALLOWED
    assert call(OPEN, "socketpair", 1, 5, 0) == ALLOWED
    assert call(OPEN, "socketpair", 1, 2, 0) == FORBIDDEN


@pytest.mark.parametrize("family", range(46))
def test_families_of_sockets_are_an_allow_list(family: int) -> None:
    assert call(CLOSED, "socket", family, 1, 0) == FORBIDDEN
    assert call(OPEN, "socket", family, 3, 0) == (ALLOWED if family in (2, 10, 16) else FORBIDDEN)
    assert call(TCP, "socket", family, 1, 0) == (ALLOWED if family in (2, 10) else FORBIDDEN)


def test_tcp_means_neither_udp_nor_mptcp() -> None:
    assert call(TCP, "socket", 2, 2, 0) == FORBIDDEN
    assert call(TCP, "socket", 2, 1, 262) == FORBIDDEN
    assert call(TCP, "socket", 2, 1 | 0o4000, 6) == ALLOWED
    assert call(OPEN, "socket", 16, 3, 9) == FORBIDDEN


def test_limits_of_others_may_be_read_and_not_set() -> None:
    assert call(CLOSED, "prlimit64", 0, 7, 1 << 40) == ALLOWED
    assert call(CLOSED, "prlimit64", 99, 7, 0) == ALLOWED
    assert call(CLOSED, "prlimit64", 99, 7, 1 << 40) == FORBIDDEN
    assert call(CLOSED, "prlimit64", 99, 7, 8) == FORBIDDEN
    assert call(OPEN, "prlimit64", 99, 7, 8) == ALLOWED


def test_another_calling_convention_is_no_way_around() -> None:
    program = assemble(OPEN, X86)
    assert decide(program, 1, audit=0x40000003) == FORBIDDEN
    assert decide(program, 0x40000000 | 165) == ABSENT


@given(number=st.integers(0, 600), args=st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6))
def test_every_call_gets_an_answer_on_every_architecture(number: int, args: list[int]) -> None:
    for architecture in (X86, ARM):
        for profile in (OPEN, CLOSED, TCP):
            program = assemble(profile, architecture)
            assert decide(program, number, *args, audit=architecture.audit) in (ALLOWED, FORBIDDEN, ABSENT)
            assert len(program) // 8 < 4096
