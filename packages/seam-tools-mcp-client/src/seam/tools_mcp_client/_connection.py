"""One connection to a server, with what is known when it breaks."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client

from seam.subprocess_def import (
    Collect,
    OwnedLifetime,
    Pipe,
    Process,
    SpawnSpec,
    SubprocessRuntime,
)
from seam.tools_def import CapabilityUnavailable
from seam.tools_mcp_client._config import McpClientConfig
from seam.tools_mcp_client._stdio import stdio_transport

HARMLESS = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER")
"""Variables of the world that a server needs to find its programs and files, and that hold no secrets."""


class Link:
    """An open connection.

    Attributes:
        client: the SDK's client, initialised.
        process: the server's process where it was started here.
    """

    def __init__(self, client: Client, process: Process | None) -> None:
        self.client = client
        self.process = process

    def trouble(self) -> str | None:
        """Why nothing can be called: the process is gone, with the end of its standard error; None while it runs."""
        if self.process is None or not self.process.leader_exited:
            return None
        end = self.process.exit
        how = (
            "has ended"
            if end is None
            else f"ended with {end.exit_code if end.signal is None else end.signal}"
        )
        tail = self.stderr()
        return f"the server {how}" + (f"; it wrote: {tail}" if tail else "")

    async def last_words(self, seconds: float) -> str:
        """Why the connection is over. A started server closes its streams a moment before it is gone: that is waited for."""
        if self.process is not None:
            with anyio.move_on_after(seconds):
                await self.process.wait_leader()
        return self.trouble() or "the connection to the server is closed"

    def stderr(self) -> str:
        """The end of what a started server wrote to its standard error."""
        if self.process is None:
            return ""
        stream = self.process.collected("stderr")
        return (stream.head() + stream.tail()).decode("utf-8", "replace").strip()[-2000:]


@asynccontextmanager
async def connect(
    name: str, config: McpClientConfig, runtime: SubprocessRuntime | None, ask: ElicitationFnT
) -> AsyncGenerator[Link]:
    """Start or reach the server and shake hands.

    Raises:
        CapabilityUnavailable: it needs `subprocess`, which is not there, or a header's variable is not set.
        SubprocessError: it cannot be started; the class says why.
    """
    if config.url is not None:
        async with (
            httpx2.AsyncClient(
                headers=_headers(name, config, os.environ), timeout=config.call_timeout
            ) as http,
            Client(streamable_http_client(config.url, http_client=http), elicitation_callback=ask) as client,
        ):
            yield Link(client, None)
        return
    if runtime is None:
        raise CapabilityUnavailable(
            f"the MCP server of row {name!r} is started through `subprocess`, which this deployment does not have; "
            "add an [implement.subprocess] row",
            reason="subprocess",
        )
    async with (
        await runtime.spawn(_spec(config, runtime)) as process,
        Client(stdio_transport(process, config.grace), elicitation_callback=ask) as client,
    ):
        yield Link(client, process)


def _headers(name: str, config: McpClientConfig, environment: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for header, variable in config.header_env.items():
        value = environment.get(variable)
        if not value:
            raise CapabilityUnavailable(
                f"row {name!r}: header {header} is to be found in the environment variable {variable}, which is not set",
                reason=variable,
            )
        found[header] = value
    return found


def _spec(config: McpClientConfig, runtime: SubprocessRuntime) -> SpawnSpec:
    world = runtime.environment
    passed = {key: world[key] for key in (*HARMLESS, *config.pass_env) if key in world}
    return SpawnSpec(
        argv=config.command,
        cwd=config.cwd or runtime.cwd,
        env=passed | config.env,
        stdin=Pipe(),
        stdout=Pipe(),
        stderr=Collect(max_bytes=config.stderr_bytes, head_bytes=0, spill_bytes=0),
        grace=config.grace,
        drain=config.grace,
        survivors="end",
        lifetime=OwnedLifetime(),
    )
