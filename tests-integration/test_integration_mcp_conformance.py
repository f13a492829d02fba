"""The MCP project's own conformance tool against the door, for what the door offers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import anyio
import pytest
from test_integration_mcp_http import DEPLOYMENT, free_port

from seam.host import Host
from seam.tools_mcp._config import Token
from seam.tools_mcp._http import TokenGate

pytestmark = [pytest.mark.anyio, pytest.mark.full]

TOOL_VERSION = "0.1.13"
"""The newest version that runs on Node.js 20."""

SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-error",
    "tools-call-with-progress",
    "server-sse-multiple-streams",
    "resources-list",
    "dns-rebinding-protection",
)
"""Not among them: prompts, completion, logging, sampling, resource templates and subscriptions, which the door does not offer."""

TOOLS = '''
import anyio
from seam.tools_def import CallContext, Completed, Image, Text, effects, tool

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="

@tool(effects=effects())
async def test_simple_text() -> Completed:
    """Text."""
    return Completed(content=(Text(text="This is a simple text response for testing."),))

@tool(effects=effects())
async def test_image_content() -> Completed:
    """An image."""
    return Completed(content=(Image(media_type="image/png", data=PIXEL),))

@tool(effects=effects())
async def test_error_handling() -> Completed:
    """An error."""
    return Completed(content=(Text(text="This tool intentionally returns an error for testing"),), success=False)

@tool(effects=effects())
async def test_tool_with_progress(ctx: CallContext) -> Completed:
    """Progress."""
    for done in (0, 50, 100):
        ctx.progress("step", done=done, total=100)
        await anyio.lowlevel.checkpoint()
    return Completed(content=(Text(text="done"),))
'''


@pytest.fixture
def anyio_backend() -> str:
    """The HTTP transport runs on asyncio only, and says so."""
    return "asyncio"


@pytest.fixture(scope="session")
def conformance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tool, installed from the npm registry."""
    npm = shutil.which("npm")
    assert npm is not None, "the conformance tool is an npm package; install Node.js with npm"
    folder = tmp_path_factory.mktemp("conformance")
    package = f"@modelcontextprotocol/conformance@{TOOL_VERSION}"
    subprocess.run([npm, "install", "--no-audit", "--no-fund", "--silent", package], cwd=folder, check=True)
    return folder / "node_modules" / ".bin" / "conformance"


async def test_every_scenario_that_concerns_the_door(
    conformance: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def anyone(gate: TokenGate, header: str) -> Token:
        return Token(principal="conformance", env="SEAM_TEST_ALICE")

    monkeypatch.setenv("SEAM_TEST_ALICE", "a")
    monkeypatch.setenv("SEAM_TEST_BOB", "b")
    # the tool cannot send a token; what is behind the gate is what it looks at
    monkeypatch.setattr(TokenGate, "_find", anyone)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "suite.py").write_text(TOOLS)
    port = free_port()
    (tmp_path / "seam.toml").write_text(DEPLOYMENT.format(port=port))
    failed: dict[str, str] = {}
    async with Host.open(tmp_path / "seam.toml", doors=True):
        with anyio.fail_after(20):
            while True:
                try:
                    await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await anyio.sleep(0.02)
        for scenario in SCENARIOS:
            command = [
                str(conformance),
                "server",
                "--url",
                f"http://localhost:{port}/mcp",
                "--scenario",
                scenario,
            ]
            done = await anyio.run_process(command, check=False, cwd=tmp_path)
            if done.returncode != 0:
                failed[scenario] = done.stdout.decode()[-2000:]
    assert failed == {}
