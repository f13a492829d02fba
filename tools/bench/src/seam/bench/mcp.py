"""The MCP door over stdio: a round trip and the start, against the official SDK's own minimal server."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio

from seam.bench.report import Row, Subject, compared, median, run_subjects

DEPLOYMENT = """
[agents.default]
workspace = "."
[implement.tools]
use = "runtime"
[process.journal]
use = "{journal}"
{path}
[process.serve.mcp]
use = "mcp"
transport = "stdio"
"""
TOOL = '''
from seam.tools_def import effects, tool

@tool(effects=effects())
async def noop(text: str = "") -> str:
    """Answer."""
    return text
'''
MINIMAL = '''
from mcp.server import MCPServer

server = MCPServer("minimal")

@server.tool()
async def noop(text: str = "") -> str:
    """Answer."""
    return text

server.run("stdio")
'''
BASELINE = "the SDK's minimal server"
IMPORT = "import of mcp.server"


def _deployed(folder: Path, journal: str) -> list[str]:
    place = folder / journal
    (place / "tools").mkdir(parents=True)
    (place / "tools" / "noop.py").write_text(TOOL, "utf-8")
    path = 'path = "journal.db"' if journal == "sqlite" else ""
    (place / "seam.toml").write_text(DEPLOYMENT.format(journal=journal, path=path), "utf-8")
    return ["-m", "seam.host", "serve", "-d", str(place / "seam.toml")]


async def _round_trips(folder: Path, rounds: int) -> list[Row]:
    (folder / "minimal.py").write_text(MINIMAL, "utf-8")
    servers = {
        BASELINE: [str(folder / "minimal.py")],
        "seam serve, journal in memory": _deployed(folder, "memory"),
        "seam serve, sqlite journal": _deployed(folder, "sqlite"),
    }
    samples = await _calls(servers, folder, rounds)
    base = median(samples.pop(BASELINE)) * 1e3
    return [
        compared(f"round trip, {name}, p50", median(found) * 1e3, "ms", BASELINE, base, at_most=1.2)
        for name, found in samples.items()
    ]


async def _calls(servers: dict[str, list[str]], folder: Path, rounds: int) -> dict[str, list[float]]:
    """One call of each server in turn, so that what the machine does meanwhile meets all of them."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters

    samples: dict[str, list[float]] = {name: [] for name in servers}
    async with AsyncExitStack() as stack:
        clients: dict[str, Client] = {}
        for name, arguments in servers.items():
            server: Any = StdioServerParameters(command=sys.executable, args=arguments, cwd=folder)
            clients[name] = await stack.enter_async_context(Client(server))
        for number in range(rounds + 20):
            for name, client in clients.items():
                began = time.perf_counter()
                answer = await client.call_tool("noop", {"text": "x"})
                if number >= 20:
                    samples[name].append(time.perf_counter() - began)
                assert not answer.is_error, answer
    return samples


async def _starts(folder: Path, rounds: int) -> list[Row]:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters

    server: Any = StdioServerParameters(command=sys.executable, args=_deployed(folder, "memory"), cwd=folder)

    async def served() -> None:
        async with Client(server):
            answered.append(time.perf_counter())

    async def imported() -> None:
        await anyio.run_process([sys.executable, "-c", "import mcp.server"], stderr=subprocess.DEVNULL)
        answered.append(time.perf_counter())

    answered: list[float] = []
    ways: dict[str, Callable[[], Awaitable[None]]] = {IMPORT: imported, "served": served}
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            await way()
            if number:  # the first writes the bytecode
                samples[name].append(answered[-1] - began)
    own, base = median(samples["served"]) * 1e3, median(samples[IMPORT]) * 1e3
    return [compared("start of `seam serve` to the first answer", own, "ms", IMPORT, base, at_most=2.0)]


def measure(smoke: bool) -> Sequence[Row]:
    """All rows; with `smoke`, of one short round."""
    with tempfile.TemporaryDirectory(prefix="seam-bench-") as first:
        rows = anyio.run(_round_trips, Path(first), 10 if smoke else 500)
    with tempfile.TemporaryDirectory(prefix="seam-bench-") as second:
        return [*rows, *anyio.run(_starts, Path(second), 1 if smoke else 7)]


SUBJECT = Subject("mcp", "the MCP door over stdio", measure)

if __name__ == "__main__":
    raise SystemExit(run_subjects([SUBJECT]))
