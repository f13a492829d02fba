"""The text view: decoded, stripped, never half of anything."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam.exec_def import LiveText, plain_text

PIECES = st.sampled_from(
    [
        b"plain ",
        b"\n",
        "ü".encode(),
        "漢".encode(),
        "🦀".encode(),
        b"\x1b[31m",
        b"\x1b[38;2;1;2;3m",
        b"\x1b]0;title\x07",
        b"\x1b]8;;http://x\x1b\\",
        b"\x1b(B",
        b"\x1bc",
        b"\x1b[?1049h",
        b"\x1bPq#0\x1b\\",
        "\x9b1m".encode(),
    ]
)
STREAMS = st.lists(PIECES, max_size=12).map(b"".join)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"ready\n", "ready\n"),
        (b"\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[?1049h \x1b[2J ok\n", "red    ok\n"),
        (b"\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bPq#0;2;0;0;0\x1b\\after", "after"),
        (b"\x1b(B\x1b)0\x1b=\x1b>\x1b7\x1b8x", "x"),
        (b"\x07bell\x0e\x0f", "bell"),
        ("\x9b31mred\x9b0m".encode(), "red"),
        (b"\x1b]never ended\nnext line", "never ended\nnext line"),
        (b"\x1b[3\nnext", "\nnext"),
        (b"tab\tkept", "tab\tkept"),
        (b"", ""),
    ],
    ids=repr,
)
def test_control_sequences_are_left_out(data: bytes, text: str) -> None:
    assert plain_text(data).text == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"first\rsecond\nthird\n", "second\nthird\n"),
        (b" 10%\r 50%\r100%\n", "100%\n"),
        (b"dos\r\nlines\r\n", "dos\nlines\n"),
        (b"twice\r\r\n", "twice\n"),
        (b"unfinished\r", "unfinished"),
        (b"a\b\bbc", "bc"),
        (b"N\bNA\bA", "NA"),
        (b"longer line\rshort", "short"),
    ],
    ids=repr,
)
def test_a_rewritten_line_shows_its_last_writing(data: bytes, text: str) -> None:
    assert plain_text(data).text == text


def test_bytes_that_are_not_utf8_become_counted_replacements() -> None:
    assert plain_text(b"a\xe9b\xff\xfe\x00c\n") == ("a\ufffdb\ufffd\ufffd\u2400c\n", 3)


def test_a_replacement_character_that_was_written_is_no_loss() -> None:
    assert plain_text("a\ufffdb".encode()) == ("a\ufffdb", 0)


@pytest.mark.parametrize(
    "ending", [b"\xe6\xbc", b"\x1b", b"\x1b[3", b"\x1b]0;ti", b"\x1bPq12", b"\xf0\x9f\xa6"], ids=repr
)
def test_what_a_cut_left_incomplete_is_left_out(ending: bytes) -> None:
    assert plain_text(b"text" + ending, cut=True) == ("text", 0)


def test_without_a_cut_an_incomplete_character_is_a_loss() -> None:
    assert plain_text(b"text\xe6\xbc") == ("text\ufffd", 1)


@settings(max_examples=1000)
@given(data=STREAMS, extra=st.data())
def test_two_pieces_of_a_cut_stream_never_show_half_of_anything(data: bytes, extra: st.DataObject) -> None:
    at = extra.draw(st.integers(0, len(data)))
    resume = extra.draw(st.integers(at, len(data)))
    head = plain_text(data[:at], cut=True)
    tail = plain_text(data[resume:], before=data[:resume])
    assert head.losses == tail.losses == 0
    whole = plain_text(data).text
    assert whole.startswith(head.text)
    assert whole.endswith(tail.text)


@given(data=st.binary(max_size=300) | STREAMS, cuts=st.lists(st.integers(0, 300), max_size=8))
def test_live_text_does_not_depend_on_how_the_chunks_fall(data: bytes, cuts: list[int]) -> None:
    whole = LiveText()
    expected = whole.feed(data) + whole.finish()
    chunked, shown, start = LiveText(), "", 0
    for cut in [*sorted(cuts), len(data)]:
        shown += chunked.feed(data[start:cut])
        start = max(start, cut)
    assert shown + chunked.finish() == expected


@given(data=st.binary(max_size=200), before=st.binary(max_size=50), cut=st.booleans())
def test_any_bytes_have_a_text_without_controls(data: bytes, before: bytes, cut: bool) -> None:
    shown = plain_text(data, before=before, cut=cut)
    assert not any((ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160 for c in shown.text)
    assert shown.losses >= 0


def test_one_huge_line_is_no_trouble() -> None:
    data = b"x" * 3_000_000 + "é\r".encode() + b"y" * 3_000_000
    assert plain_text(data).text == "y" * 3_000_000
