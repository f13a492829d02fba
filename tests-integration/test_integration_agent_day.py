"""A day with an agent: the official MCP client drives `seam serve` over real pipes, the way a coding agent does."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import mcp_types as types
import psutil
import pytest
from mcp.client.client import Client
from mcp.client.context import ClientRequestContext
from mcp.client.stdio import StdioServerParameters

from seam.host import Host
from seam.tools_def import JournalQuery

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """One loop on this side is enough; the server's own is what is under test."""
    return "asyncio"


DEPLOYMENT = """
[seam]
debounce = "50ms"
[agents.default]
workspace = "work"
[implement.subprocess]
use = "local"
WORLD
[implement.tools]
use = "runtime"
[implement.integration]
use = "runtime"
[implement.jobs]
use = "local"
[implement.permissions]
use = "rules"
[implement.permissions.no-removal]
verdict = "deny"
command = "rm -rf *"
reason = "nothing is removed by the agent"
[implement.permissions.echoes]
verdict = "allow"
command = "echo *"
[consume.exec-tool]
[consume.jobs-tool]
[consume.skills]
[process.journal]
use = "sqlite"
path = "journal.db"
[process.serve.mcp]
use = "mcp"
"""

SKILL = "---\nname: release\ndescription: How to cut a release.\n---\nRun the tests first.\n"

TOOL = '''
from seam.tools_def import effects, tool

@tool(effects=effects())
async def {name}() -> str:
    """Answer."""
    return "{name}"
'''

LOCAL = '[implement.exec]\nuse = "local"\n'
SANDBOX = """[implement.exec]
use = "sandbox"
[implement.sandbox_policy]
use = "policy"
partial = true
[implement.sandbox_runtime]
use = "RUNTIME"
"""
WORLDS = {
    "local": LOCAL,
    "bwrap": SANDBOX.replace("RUNTIME", "bwrap"),
    "landlock": SANDBOX.replace("RUNTIME", "landlock"),
}
DAYS = [("local", "auto"), ("local", "legacy"), ("bwrap", "auto"), ("landlock", "auto")]


class Person:
    """Answers what it is asked, in order."""

    def __init__(self) -> None:
        self.answers: list[str] = []
        self.asked: list[str] = []

    async def __call__(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        self.asked.append(params.message)
        return types.ElicitResult(action="accept", content={"answer": self.answers.pop(0)})


def text(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))


@asynccontextmanager
async def served(folder: Path, person: Person, mode: str = "auto") -> AsyncGenerator[Client]:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "seam.host", "serve", "-d", str(folder / "seam.toml")], cwd=folder
    )
    async with Client(server, elicitation_callback=person, mode=mode) as client:  # pyright: ignore[reportArgumentType]
        yield client


def deployment(world: str) -> str:
    return DEPLOYMENT.replace("WORLD", WORLDS[world])


def prepare(folder: Path, world: str = "local") -> None:
    (folder / "work").mkdir()
    (folder / "skills" / "release").mkdir(parents=True)
    (folder / "skills" / "release" / "SKILL.md").write_text(SKILL)
    (folder / "seam.toml").write_text(deployment(world))


async def test_what_a_client_sees_is_the_same_to_the_byte_whatever_world_is_below(tmp_path: Path) -> None:
    listings: dict[str, str] = {}
    for world in WORLDS:
        folder = tmp_path / world
        folder.mkdir()
        prepare(folder, world)
        async with served(folder, Person()) as client:
            listings[world] = (await client.list_tools()).model_dump_json()
    assert '"shell"' in listings["local"]
    assert set(listings.values()) == {listings["local"]}


@pytest.mark.parametrize(("world", "mode"), DAYS, ids=["-".join(day) for day in DAYS])
async def test_a_day_with_an_agent(tmp_path: Path, world: str, mode: str) -> None:
    prepare(tmp_path, world)
    person = Person()
    async with served(tmp_path, person, mode) as client:
        # it looks around
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"shell", "job_list", "job_read", "job_wait", "job_stop", "skill"} <= set(tools)
        assert tools["shell"].input_schema["required"] == ["command"]
        assert "release" in (client.instructions or "")
        assert "Run the tests first" in text(await client.call_tool("skill", {"name": "release"}))

        # what policy allows runs without a question, what it denies never does, the rest is asked
        assert "hello" in text(await client.call_tool("shell", {"command": "echo hello"}))
        denied = await client.call_tool("shell", {"command": "echo x && rm -rf ."})
        assert denied.is_error
        assert "nothing is removed by the agent" in text(denied)
        assert person.asked == []
        person.answers = ["no", "yes"]
        refused = await client.call_tool("shell", {"command": "touch here"})
        assert refused.is_error
        assert not (tmp_path / "work" / "here").exists()
        allowed = await client.call_tool("shell", {"command": "touch here2"})
        assert not allowed.is_error
        assert (tmp_path / "work" / "here2").exists()
        assert "touch here2" in person.asked[-1]

        # a server in the background, polled
        person.answers = ["yes, for this session"]
        started = await client.call_tool(
            "shell", {"command": "echo ready; exec sleep 1000", "background": True, "description": "server"}
        )
        assert "job j1" in text(started)
        waited = await client.call_tool("job_wait", {"jobs": ["j1"], "timeout": 20, "cursor": 0})
        assert "j1: running" in text(waited)
        read = await client.call_tool("job_read", {"job": "j1", "cursor": 0})
        assert "ready" in text(read)

        # a test run that fails: the model sees code and output
        person.answers = ["yes"]
        failed = await client.call_tool("shell", {"command": "echo 1 failed >&2; exit 1"})
        assert failed.is_error
        assert text(failed).startswith("Exit code 1")
        assert "1 failed" in text(failed)

        # it gives up on something
        person.answers = ["yes"]
        with anyio.move_on_after(1):
            await client.call_tool("shell", {"command": "echo begun > begun; sleep 1000"})

        # a tool appears while it works; the job is still there
        (tmp_path / "tools").mkdir()
        (tmp_path / "tools" / "fresh.py").write_text(TOOL.format(name="fresh"))
        with anyio.fail_after(20):
            while "fresh" not in {tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools}:
                await anyio.sleep(0.05)
        assert text(await client.call_tool("fresh", {})) == "fresh"
        assert "j1: running" in text(await client.call_tool("job_list", {}))

        stopped = await client.call_tool("job_stop", {"job": "j1"})
        assert "j1: stopped" in text(stopped)
        server = psutil.Process().children(recursive=True)
        assert server
    psutil.wait_procs(server, timeout=10)
    assert [process for process in server if process.is_running() and process.status() != "zombie"] == []
    await _read_the_journal(tmp_path, world)


async def _read_the_journal(folder: Path, world: str) -> None:
    """Every call has one request and one settlement; the cancelled one says so; the record verifies."""
    (folder / "seam.toml").write_text(deployment(world).split("[process.serve.mcp]", maxsplit=1)[0])
    async with Host.open(folder / "seam.toml") as host:
        entries = [entry async for entry in host.journal.query(JournalQuery())]
        requested = [entry.record.call for entry in entries if entry.record.kind == "requested"]
        settled = [entry.record for entry in entries if entry.record.kind == "settled"]
        assert sorted(requested) == sorted(record.call for record in settled) or len(requested) == len(
            settled
        )
        kinds = [record.outcome.kind for record in settled if record.tool == "shell"]
        assert kinds.count("cancelled") == 1
        assert kinds.count("refused") == 2
        assert list(await host.journal.verify()) == []
