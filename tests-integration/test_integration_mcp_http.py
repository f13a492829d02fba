"""The MCP door over a real socket: tokens, sessions, many clients at once."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from seam.host import Host, PrepareFailed
from seam.tools_def import JournalQuery

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """The HTTP transport runs on asyncio only, and says so."""
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
[implement.jobs]
use = "local"
[consume.jobs-tool]
[process.journal]
use = "memory"
[process.serve.mcp]
use = "mcp"
transport = "http"
port = {port}
[[process.serve.mcp.tokens]]
principal = "alice"
env = "SEAM_TEST_ALICE"
[[process.serve.mcp.tokens]]
principal = "bob"
env = "SEAM_TEST_BOB"
"""

PING = '''
from seam.tools_def import CallContext, effects, tool

@tool(effects=effects(), concurrency="parallel")
async def who(ctx: CallContext) -> str:
    """Who is there."""
    return ctx.access.principal
'''


@pytest.fixture(autouse=True)
def tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAM_TEST_ALICE", "token-of-alice")
    monkeypatch.setenv("SEAM_TEST_BOB", "token-of-bob")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def served(folder: Path) -> AsyncGenerator[tuple[Host, str]]:
    (folder / "tools").mkdir()
    (folder / "tools" / "who.py").write_text(PING)
    port = free_port()
    (folder / "seam.toml").write_text(DEPLOYMENT.format(port=port))
    async with Host.open(folder / "seam.toml", doors=True) as host:
        with anyio.fail_after(20):
            while True:
                try:
                    await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await anyio.sleep(0.02)
        yield host, f"http://127.0.0.1:{port}/mcp"


@asynccontextmanager
async def client(url: str, token: str, mode: str = "auto") -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as connected,  # pyright: ignore[reportArgumentType]
    ):
        yield connected


def text(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_each_token_is_its_principal(tmp_path: Path, mode: str) -> None:
    async with (
        served(tmp_path) as (_, url),
        client(url, "token-of-alice", mode) as alice,
        client(url, "token-of-bob", mode) as bob,
    ):
        assert text(await alice.call_tool("who", {})) == "alice"
        assert text(await bob.call_tool("who", {})) == "bob"


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Basic token-of-alice", "Bearer"])
async def test_without_a_good_token_nobody_comes_in(tmp_path: Path, header: str | None) -> None:
    async with served(tmp_path) as (host, url), httpx2.AsyncClient() as http:
        headers = {"Authorization": header} if header else {}
        answer = await http.post(
            url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=headers
        )
        assert answer.status_code == 401
        assert answer.json()["error"] == "unauthorized"
        opened = [e async for e in host.journal.query(JournalQuery()) if e.record.kind == "requested"]
        assert opened == []


async def test_a_foreign_host_header_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, url), httpx2.AsyncClient() as http:
        headers = {"Authorization": "Bearer token-of-alice", "Host": "evil.example"}
        answer = await http.post(
            url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=headers
        )
        assert answer.status_code in (403, 421)


async def test_a_huge_message_is_refused_and_the_door_lives_on(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, url):
        async with httpx2.AsyncClient() as http:
            headers = {"Authorization": "Bearer token-of-alice", "Content-Type": "application/json"}
            answer = await http.post(url, content=b"x" * (5 * 1024 * 1024), headers=headers)
            assert answer.status_code == 413
        async with client(url, "token-of-alice") as alice:
            assert text(await alice.call_tool("who", {})) == "alice"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_fifty_clients_at_once_without_a_failed_call(tmp_path: Path, mode: str) -> None:
    answers: list[str] = []

    async def work(url: str) -> None:
        async with client(url, "token-of-alice", mode) as connected:
            for _ in range(4):
                answers.append(text(await connected.call_tool("who", {})))

    async with served(tmp_path) as (_, url), anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(work, url)
    assert answers == ["alice"] * 200


async def test_a_missing_token_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEAM_TEST_BOB")
    (tmp_path / "seam.toml").write_text(DEPLOYMENT.format(port=free_port()))
    async with Host.open(tmp_path / "seam.toml", doors=True) as host:
        with anyio.fail_after(20):
            while not (faults := [f for i in host.root.instances for f in i.faults]):
                await anyio.sleep(0.02)
        assert "SEAM_TEST_BOB" in str(faults[0])


async def test_http_without_tokens_is_refused_in_the_deployment(tmp_path: Path) -> None:
    text = DEPLOYMENT.format(port=free_port()).split("[[process.serve.mcp.tokens]]", maxsplit=1)[0]
    (tmp_path / "seam.toml").write_text(text)
    with pytest.raises(PrepareFailed, match="tokens"):
        async with Host.open(tmp_path / "seam.toml", doors=True):
            raise AssertionError("it was opened")
