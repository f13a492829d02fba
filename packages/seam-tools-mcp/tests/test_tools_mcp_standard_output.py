"""Standard output: whole messages without a thread, and a client that does not read is given up at once."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from seam.tools_mcp._standard_output import StandardOutput

pytestmark = pytest.mark.anyio
LARGE = "ü" * 500_000


async def _written_and_read(write: int, read: int) -> str:
    def drain() -> bytes:
        with os.fdopen(read, "rb") as source:
            return source.read()

    async def send() -> None:
        output = StandardOutput(write)
        await output.write(LARGE)
        await output.write("last\n")
        await output.flush()
        output.close()
        os.close(write)

    got: list[bytes] = []
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(send)
            got.append(await anyio.to_thread.run_sync(drain))
    return got[0].decode()


async def test_a_message_larger_than_a_pipe_arrives_whole() -> None:
    read, write = os.pipe()
    assert await _written_and_read(write, read) == LARGE + "last\n"


async def test_a_message_larger_than_a_socket_takes_arrives_whole() -> None:
    ours, theirs = socket.socketpair()
    assert await _written_and_read(ours.detach(), theirs.detach()) == LARGE + "last\n"


async def test_a_file_is_written_as_well(tmp_path: Path) -> None:
    file = tmp_path / "messages"
    with file.open("wb") as opened:
        await StandardOutput(opened.fileno()).write(LARGE)
    assert file.read_text("utf-8") == LARGE


@pytest.mark.parametrize("kind", ["pipe", "socket"])
async def test_a_client_that_does_not_read_is_given_up_at_once(kind: str) -> None:
    if kind == "pipe":
        read, write = os.pipe()
    else:
        read, write = (end.detach() for end in socket.socketpair())
    output = StandardOutput(write)
    try:
        with anyio.fail_after(20), anyio.move_on_after(0.05) as waiting:
            await output.write(LARGE)
        assert waiting.cancelled_caught
        assert os.get_blocking(write)  # others hold this pipe too, and expect it to wait
    finally:
        output.close()
        os.close(read)
        os.close(write)


async def test_a_client_that_says_nothing_more_and_does_not_read_is_given_up_in_time() -> None:
    read, write = os.pipe()
    output = StandardOutput(write)
    try:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                group.start_soon(output.write, LARGE)
                await anyio.sleep(0.05)
                output.last_words(0.05)
            await output.write(LARGE)  # and what comes later is given up at once
            os.set_blocking(read, False)
            assert os.read(read, 1 << 20)  # what it took is there
    finally:
        os.close(read)
        os.close(write)


async def test_a_client_that_is_gone_is_told() -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        with pytest.raises(BrokenPipeError):
            await StandardOutput(write).write("x")
    finally:
        os.close(write)


def test_descriptor_1_is_the_doors_alone_and_what_others_print_lands_on_standard_error() -> None:
    program = (
        "import anyio, os, sys\n"
        "from seam.tools_mcp._standard_output import standard_output\n"
        "print('before', flush=True)\n"
        "with standard_output() as wire:\n"
        "    print('held back')\n"
        "    os.system('echo child')\n"
        "    anyio.run(wire.write, 'message\\n')\n"
        "print('after')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines() == ["before", "message", "after"]
    assert set(done.stderr.splitlines()) == {"held back", "child"}
