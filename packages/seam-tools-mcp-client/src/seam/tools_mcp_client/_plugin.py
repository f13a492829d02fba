"""The plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator

from seam.kernel import Context, plugin
from seam.subprocess_def import SubprocessRuntime
from seam.tools_def import GLOBAL, SeamIntegration
from seam.tools_mcp_client._config import McpClientConfig


@plugin(requires=[SeamIntegration], optional=[SubprocessRuntime], config=McpClientConfig)
async def mcp_client(ctx: Context, config: McpClientConfig) -> AsyncIterator[None]:
    """Registers the server as a tool service, under the row's name."""
    # the SDK takes a second to import; whoever only looks at a deployment does not pay for it
    from seam.tools_mcp_client._service import McpToolService

    service = McpToolService(_row_name(ctx.name), config, ctx.get(SubprocessRuntime))
    ctx[SeamIntegration].register_tool_service(GLOBAL, service, ctx=ctx)
    yield


def _row_name(instance: str) -> str:
    # the host names instances by table: consume.github, or reviewer/consume.github in a realm
    return instance.rsplit("/", 1)[-1].removeprefix("consume.")
