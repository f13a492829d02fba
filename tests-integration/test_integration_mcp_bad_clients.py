"""Clients that send nonsense, vanish or stop reading: each has its answer, and nothing is left behind."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import psutil
import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """One loop on this side is enough; the server's own is what is under test."""
    return "asyncio"


DEPLOYMENT = """
[agents.default]
workspace = "."
[implement.subprocess]
use = "local"
[implement.exec]
use = "local"
[implement.tools]
use = "runtime"
[implement.permissions]
use = "rules"
[implement.permissions.anything]
verdict = "allow"
tool = "shell"
[consume.exec-tool]
text_limit = 1000000
head_bytes = 1000000
tail_bytes = 1000000
[process.journal]
use = "sqlite"
path = "journal.db"
[process.serve.mcp]
use = "mcp"
"""
CLIENT: dict[str, object] = {"capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
INITIALIZE: dict[str, object] = {"protocolVersion": "2025-06-18", **CLIENT}


@asynccontextmanager
async def served(folder: Path) -> AsyncGenerator[tuple[anyio.abc.Process, Lines]]:
    (folder / "seam.toml").write_text(DEPLOYMENT, "utf-8")
    arguments = [sys.executable, "-m", "seam.host", "serve", "-d", str(folder / "seam.toml")]
    async with await anyio.open_process(arguments, cwd=folder, stderr=None) as process:
        assert process.stdout is not None
        yield process, Lines(process.stdout)


async def send(process: anyio.abc.Process, *messages: bytes) -> None:
    assert process.stdin is not None
    await process.stdin.send(b"".join(messages))


async def opened(process: anyio.abc.Process, lines: Lines) -> None:
    await send(process, message(1, "initialize", INITIALIZE))
    assert "result" in await lines.answer_to(1)
    await send(process, b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')


async def vanish(process: anyio.abc.Process) -> None:
    """Both pipes are closed at once, and the server ends by itself."""
    assert process.stdin is not None
    assert process.stdout is not None
    await process.stdin.aclose()
    await process.stdout.aclose()
    with anyio.fail_after(30):
        await process.wait()


def message(number: int, method: str, params: dict[str, object]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def shell(number: int, command: str) -> bytes:
    return message(number, "tools/call", {"name": "shell", "arguments": {"command": command}})


class Lines:
    def __init__(self, source: anyio.abc.ByteReceiveStream) -> None:
        self._source = source
        self._buffer = b""

    async def answer_to(self, number: int) -> dict[str, dict[str, object]]:
        with anyio.fail_after(30):
            while True:
                while b"\n" not in self._buffer:
                    self._buffer += await self._source.receive(1 << 20)
                line, _, self._buffer = self._buffer.partition(b"\n")
                message = json.loads(line)
                if message.get("id") == number:
                    return message


async def test_garbage_and_unknown_methods_are_answered_and_the_door_lives_on(tmp_path: Path) -> None:
    async with served(tmp_path) as (process, lines):
        await send(process, b'this is not json\n\n{"jsonrpc": "2.0"}\n', b"\xff\xfe\x00\n")
        await opened(process, lines)
        await send(process, message(2, "no/such/method", {}))
        assert (await lines.answer_to(2))["error"]["code"] == -32601
        await send(
            process, b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}\n'
        )
        await send(process, shell(3, "echo " + "x" * 2_000_000))
        assert "result" in await lines.answer_to(3)
        assert process.stdin is not None
        await process.stdin.aclose()
        with anyio.fail_after(20):
            assert await process.wait() == 0


@pytest.mark.parametrize("wished", ["1999-01-01", "3000-01-01", "", "two"])
async def test_an_unknown_protocol_version_is_answered_with_one_that_is_spoken(
    tmp_path: Path, wished: str
) -> None:
    async with served(tmp_path) as (process, lines):
        await send(process, message(1, "initialize", {"protocolVersion": wished, **CLIENT}))
        told = await lines.answer_to(1)
        assert str(told["result"]["protocolVersion"]).startswith("20")
        assert told["result"]["protocolVersion"] != wished
        await vanish(process)


async def test_a_protocol_version_of_the_wrong_shape_is_an_error(tmp_path: Path) -> None:
    async with served(tmp_path) as (process, lines):
        await send(process, message(1, "initialize", {"protocolVersion": 7, **CLIENT}))
        assert (await lines.answer_to(1))["error"]["code"] == -32602
        await opened(process, lines)
        await vanish(process)


async def test_a_client_that_vanishes_in_the_middle_of_a_call_leaves_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as (process, lines):
        await opened(process, lines)
        await send(process, shell(2, "echo $$ > pid; setsid sleep 1000 & sleep 1000"))
        with anyio.fail_after(30):
            while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text("utf-8").strip():
                await anyio.sleep(0.05)
        below = psutil.Process(process.pid).children(recursive=True)
        assert any(child.name() == "sleep" for child in below)
        await vanish(process)
        _, alive = psutil.wait_procs(below, timeout=20)
        assert alive == []


async def test_a_client_that_stops_reading_holds_nothing_up(tmp_path: Path) -> None:
    async with served(tmp_path) as (process, lines):
        await opened(process, lines)
        await send(process, shell(2, "head -c 900000 /dev/zero | tr '\\0' x; touch done"))
        with anyio.fail_after(30):
            while not (tmp_path / "done").exists():
                await anyio.sleep(0.05)
        await anyio.sleep(0.5)  # the answer stands in a full pipe now
        assert process.stdin is not None
        await process.stdin.aclose()
        with anyio.fail_after(30):
            await process.wait()
