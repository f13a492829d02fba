"""MCP servers as tools of a deployment: real servers, started through the deployment's subprocess or reached over a socket."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from seam.host import Host, PrepareFailed
from seam.tools_def import (
    Access,
    ApprovalAnswer,
    ApprovalPort,
    ApprovalRequest,
    Approve,
    Completed,
    Refused,
    Unavailable,
    outcome_text,
)

pytestmark = pytest.mark.anyio

ACCESS = Access(principal="me", platform="tests")

BASE = """
[agents.default]
workspace = "."
[implement.subprocess]
use = "local"
[implement.tools]
use = "runtime"
[implement.integration]
use = "runtime"
[process.journal]
use = "memory"
"""

SERVER = '''
import os, sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("weather")

@server.tool()
def forecast(city: str) -> str:
    """The weather."""
    return f"sunny in {city}"

@server.tool(name="die")
def die() -> str:
    """End the server."""
    print("dying words", file=sys.stderr, flush=True)
    os._exit(3)

@server.tool()
def environment() -> str:
    """Names of variables."""
    return " ".join(sorted(os.environ))

print("a stray line on standard output", flush=True)
server.run("stdio")
'''


class Yes(ApprovalPort):
    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        return Approve(by="me")


def deployment(folder: Path, *rows: str) -> Path:
    (folder / "server.py").write_text(SERVER)
    path = folder / "seam.toml"
    path.write_text(BASE + "\n".join(rows))
    return path


def weather(folder: Path, more: str = "") -> str:
    return f'[consume.weather]\nuse = "mcp-client"\ncommand = ["{sys.executable}", "{folder}/server.py"]\n{more}\n'


async def test_its_tools_are_called_through_the_chain(tmp_path: Path) -> None:
    path = deployment(tmp_path, weather(tmp_path, 'prefix = "w_"'))
    async with Host.open(path) as host:
        async with host.turns.open("default", session="s", access=ACCESS) as turn:
            assert {tool.name for tool in turn.tools} == {"w_forecast", "w_die", "w_environment"}
            unattended = await turn.call("w_forecast", {"city": "Rome"})
            assert isinstance(unattended, Refused), (
                "effects of a foreign tool are unknown, so somebody has to be asked"
            )
        async with host.turns.open("default", session="s", access=ACCESS, approval=Yes()) as turn:
            outcome = await turn.call("w_forecast", {"city": "Rome"})
            assert isinstance(outcome, Completed)
            assert "sunny in Rome" in outcome_text(outcome)
            invalid = await turn.call("w_forecast", {"town": "Rome"})
            assert isinstance(invalid, Refused)
            assert invalid.policy == "validation"


async def test_no_secret_of_the_host_reaches_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "secret")
    path = deployment(tmp_path, weather(tmp_path))
    async with (
        Host.open(path) as host,
        host.turns.open("default", session="s", access=ACCESS, approval=Yes()) as turn,
    ):
        names = outcome_text(await turn.call("environment", {}))
        assert "PATH" in names
        assert "MY_API_KEY" not in names


async def test_a_server_that_dies_makes_calls_unavailable_with_its_last_words(tmp_path: Path) -> None:
    path = deployment(tmp_path, weather(tmp_path))
    async with (
        Host.open(path) as host,
        host.turns.open("default", session="s", access=ACCESS, approval=Yes()) as turn,
    ):
        first = await turn.call("die", {})
        assert isinstance(first, Unavailable)
        second = await turn.call("forecast", {"city": "Rome"})
        assert isinstance(second, Unavailable)
        assert "dying words" in second.reason


async def test_the_server_ends_with_the_deployment(tmp_path: Path) -> None:
    path = deployment(tmp_path, weather(tmp_path))
    async with Host.open(path):
        children = psutil.Process().children(recursive=True)
        assert any("server.py" in " ".join(child.cmdline()) for child in children)
    assert not any(child.is_running() and child.status() != "zombie" for child in children)


async def test_t_12_a_server_that_does_not_come_up_rejects_unless_its_row_is_optional(tmp_path: Path) -> None:
    broken = '[consume.broken]\nuse = "mcp-client"\ncommand = ["/no/such/server"]\n'
    with pytest.raises(PrepareFailed, match="broken"):
        async with Host.open(deployment(tmp_path, broken)):
            raise AssertionError("it was opened")
    path = deployment(tmp_path, broken + "optional = true\n", weather(tmp_path))
    async with Host.open(path) as host:
        assert any("broken" in problem.row or "broken" in problem.text for problem in host.left_out)
        async with host.turns.open("default", session="s", access=ACCESS) as turn:
            assert "forecast" in {tool.name for tool in turn.tools}


async def test_jo_012_a_server_that_never_answers_is_killed_before_the_next_try(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    slow = (
        '[consume.slow]\nuse = "mcp-client"\nconnect_timeout = "1s"\n'
        f'command = ["flock", "-n", "{lock}", "sleep", "1000"]\n'
    )
    for _ in range(2):
        with pytest.raises(PrepareFailed, match="did not answer the handshake"):
            async with Host.open(deployment(tmp_path, slow)):
                raise AssertionError("it was opened")
