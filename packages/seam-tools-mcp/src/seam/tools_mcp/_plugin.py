"""The plugin: a door that lives with the process."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import sniffio

from seam.kernel import Context, plugin
from seam.tools_def import DoorClosed, TurnGate, door_closed
from seam.tools_mcp._config import McpConfig
from seam.tools_mcp._errors import EventLoopUnsupported


@plugin(requires=[TurnGate], config=McpConfig)
async def mcp(ctx: Context, config: McpConfig) -> AsyncIterator[None]:
    """Serves the tools of the deployment to MCP clients."""
    if config.transport == "http" and sniffio.current_async_library() != "asyncio":
        raise EventLoopUnsupported(
            'transport = "http" runs on asyncio only; run the host on asyncio, or use stdio', loop="trio"
        )
    ctx.start_soon(_serve, ctx, config, name="mcp door")
    yield


async def _serve(ctx: Context, config: McpConfig) -> None:
    # the SDK takes a second to import; whoever only looks at a deployment does not pay for it
    from seam.tools_mcp._http import serve_http
    from seam.tools_mcp._stdio import serve_stdio

    try:
        if config.transport == "stdio":
            reason = await serve_stdio(ctx[TurnGate], config)
        else:
            reason = await serve_http(ctx[TurnGate], config, _listening)
    except Exception as error:
        await ctx.observe(
            door_closed, DoorClosed(door=ctx.name, reason=f"{type(error).__name__}: {error}", failed=True)
        )
        raise
    await ctx.observe(door_closed, DoorClosed(door=ctx.name, reason=reason))


def _listening(host: str, port: int) -> None:
    logging.getLogger("seam.mcp").info("listening on %s:%d", host, port)
