"""Standard input: whole lines in order, and a wait that is given up at once."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from seam.tools_mcp._standard_input import StandardInput, standard_input

pytestmark = pytest.mark.anyio


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe: where to read, where to write."""
    read, write = os.pipe()
    yield read, write
    for end in (read, write):
        with contextlib.suppress(OSError):  # the test closed it
            os.close(end)


async def lines(descriptor: int) -> list[str]:
    return [line async for line in StandardInput(descriptor)]


async def test_lines_come_whole_however_they_were_written(pipe: tuple[int, int]) -> None:
    read, write = pipe
    for piece in (b'{"a":', b"1}\n\n{", b"}\nlast \xff"):
        os.write(write, piece)
    os.close(write)
    assert await lines(read) == ['{"a":1}', "", "{}", "last �"]


async def test_a_file_is_read_as_well(tmp_path: Path) -> None:
    file = tmp_path / "messages"
    file.write_bytes(b"one\ntwo\n")
    with file.open("rb") as opened:
        assert await lines(opened.fileno()) == ["one", "two"]


async def test_waiting_for_a_silent_client_is_given_up_at_once(pipe: tuple[int, int]) -> None:
    with anyio.fail_after(20), anyio.move_on_after(0.05) as waiting:
        await lines(pipe[0])
    assert waiting.cancelled_caught


def test_descriptor_0_is_the_doors_alone_and_comes_back() -> None:
    before = os.fstat(0)
    with standard_input():
        assert os.read(0, 1) == b""
    assert os.fstat(0) == before
