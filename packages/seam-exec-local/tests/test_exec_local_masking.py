"""Masking: no chunk border, order of values or end of a stream lets a secret through."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from seam.exec_def import SecretRef
from seam.exec_local._masking import Masker, Masks

LETTERS = st.text(alphabet="abc", max_size=40).map(str.encode)
VALUES = st.lists(st.text(alphabet="abc", min_size=1, max_size=6), min_size=1, max_size=4, unique=True)


def masks(*values: str) -> Masks:
    """Return masks for values that are named s0, s1, ..."""
    return Masks({SecretRef(secret=f"s{n}"): SecretStr(value) for n, value in enumerate(values)})


def chunked(masker: Masker, data: bytes, cuts: list[int]) -> bytes:
    """Return what comes out when `data` comes in pieces."""
    out, start = b"", 0
    for cut in [*sorted(cuts), len(data)]:
        out += masker.feed(data[start:cut])
        start = max(start, min(cut, len(data)))
    return out


def test_a_value_is_replaced_by_its_name() -> None:
    masker = Masker(masks("hunter2"))
    assert masker.feed(b"password: hunter2!\n") + masker.finish() == b"password: [secret s0]!\n"
    assert masker.masked == 1


def test_a_value_that_is_cut_by_chunk_borders_is_replaced() -> None:
    masker = Masker(masks("hunter2"))
    pieces = [masker.feed(bytes([byte])) for byte in b"a hunter2 b"]
    assert b"".join(pieces) + masker.finish() == b"a [secret s0] b"


def test_nothing_is_held_back_that_cannot_become_a_value() -> None:
    masker = Masker(masks("hunter2"))
    assert masker.feed(b"ready> ") == b"ready> "


def test_of_two_values_the_longer_is_masked_as_a_whole() -> None:
    masker = Masker(masks("abc", "abcdef"))
    assert masker.feed(b"xabc") + masker.feed(b"def abc ") + masker.finish() == b"x[secret s1] [secret s0] "


def test_an_empty_value_masks_nothing() -> None:
    masker = Masker(masks("", "abc"))
    assert masker.feed(b"xabcx") + masker.finish() == b"x[secret s1]x"


def test_lines_of_a_long_secret_are_masked_one_by_one() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----"
    masker = Masker(masks(key))
    assert masker.feed(b"second line: kqhkiG9w0BAQEF.\n") + masker.finish() == b"second line: [secret s0].\n"


def test_a_value_that_is_cut_off_by_the_end_is_masked_once_it_gives_much_away() -> None:
    most, little = Masker(masks("hunter2hunter2")), Masker(masks("hunter2hunter2"))
    assert most.feed(b"x hunter2hun") + most.finish() == b"x [secret s0]"
    assert little.feed(b"x hunt") + little.finish() == b"x hunt"


def test_the_end_of_a_stream_still_masks_a_whole_value_that_could_have_gone_on() -> None:
    masker = Masker(masks("abc", "abcdefghij"))
    assert masker.feed(b"abcd") + masker.finish() == b"[secret s0]d"


def test_neither_masks_nor_masker_show_a_value() -> None:
    assert "hunter2" not in repr(masks("hunter2")) + repr(Masker(masks("hunter2")))


@given(values=VALUES, data=LETTERS, cuts=st.lists(st.integers(0, 40), max_size=10))
def test_chunks_make_no_difference(values: list[str], data: bytes, cuts: list[int]) -> None:
    ordered = sorted(values, key=len, reverse=True)
    names = {value.encode(): f"[secret s{values.index(value)}]".encode() for value in values}
    whole = re.sub("|".join(ordered).encode(), lambda match: names[match.group()], data + b"\n")
    masker = Masker(masks(*values))
    assert chunked(masker, data + b"\n", cuts) + masker.finish() == whole


@given(values=VALUES, data=LETTERS, cuts=st.lists(st.integers(0, 40), max_size=10))
def test_no_value_gets_through_even_at_a_cut_end(values: list[str], data: bytes, cuts: list[int]) -> None:
    masker = Masker(masks(*values))
    shown = chunked(masker, data, cuts) + masker.finish()
    for piece in re.split(rb"\[secret s\d\]", shown):
        assert not any(value.encode() in piece for value in values)


def test_a_large_secret_does_not_make_masking_slow() -> None:
    value = "".join(f"{n:06d}" for n in range(2000))
    masker = Masker(masks(value))
    chunk = b"0" * 65_536
    assert all(masker.feed(chunk) is not None for _ in range(5))
