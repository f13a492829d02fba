"""The plugin that provides the chain."""

from __future__ import annotations

from collections.abc import AsyncIterator

from seam.kernel import Context, plugin
from seam.tools_def import Tools
from seam.tools_runtime._config import RuntimeConfig
from seam.tools_runtime._runtime import open_runtime


@plugin(provides=[Tools], config=RuntimeConfig)
async def runtime(ctx: Context, config: RuntimeConfig) -> AsyncIterator[None]:
    """Projection, turns, and the one way of every call."""
    async with open_runtime(config) as tools:
        ctx.provide(Tools, tools)
        yield
