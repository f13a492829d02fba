"""The plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator

from seam.jobs_def import JobRegistry
from seam.jobs_tool._config import JobsToolConfig
from seam.jobs_tool._tools import JobTools
from seam.kernel import Context, plugin


@plugin(requires=[JobRegistry], config=JobsToolConfig)
async def jobs_tool(ctx: Context, config: JobsToolConfig) -> AsyncIterator[None]:
    """Offers the job tools."""
    for tool in JobTools(ctx[JobRegistry], config).all():
        ctx.contribute(tool)
    yield
