"""An assembler for the few classic BPF instructions that a seccomp filter is made of.

Source: `linux/filter.h`, `linux/bpf_common.h`, seccomp(2).
"""

from __future__ import annotations

import struct

_LOAD_WORD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_ABOVE_OR_EQUAL = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_JUMP_ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K

NUMBER_OFFSET = 0
ARCHITECTURE_OFFSET = 4


def argument_offset(index: int, *, high: bool = False) -> int:
    """Where one half of an argument lies in `struct seccomp_data` on a little-endian machine."""
    return 16 + 8 * index + (4 if high else 0)


def load(offset: int) -> bytes:
    """Load a word of `struct seccomp_data`."""
    return _pack(_LOAD_WORD, 0, 0, offset)


def mask(bits: int) -> bytes:
    """Keep only `bits` of the loaded word."""
    return _pack(_AND, 0, 0, bits)


def give(action: int) -> bytes:
    """End the filter with an action."""
    return _pack(_RETURN, 0, 0, action)


def unless_equal(value: int, skip: int) -> bytes:
    """Skip `skip` instructions unless the word equals `value`."""
    return _pack(_JUMP_EQUAL, 0, skip, value)


def if_equal(value: int, skip: int) -> bytes:
    """Skip `skip` instructions if the word equals `value`."""
    return _pack(_JUMP_EQUAL, skip, 0, value)


def unless_any_bit(bits: int, skip: int) -> bytes:
    """Skip `skip` instructions unless one of `bits` is set."""
    return _pack(_JUMP_ANY_BIT, 0, skip, bits)


def if_at_least(value: int, skip: int) -> bytes:
    """Skip `skip` instructions if the word is at least `value`."""
    return _pack(_JUMP_ABOVE_OR_EQUAL, skip, 0, value)


def unless_at_least(value: int, skip: int) -> bytes:
    """Skip `skip` instructions unless the word is at least `value`."""
    return _pack(_JUMP_ABOVE_OR_EQUAL, 0, skip, value)


def length(program: bytes) -> int:
    """How many instructions a program has."""
    return len(program) // 8


def _pack(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value & 0xFFFFFFFF)
