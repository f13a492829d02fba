"""The plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator

from seam.kernel import Context, plugin
from seam.subprocess_def import SubprocessRuntime
from seam.subprocess_local._config import LocalSubprocessConfig
from seam.subprocess_local._runtime import open_runtime


@plugin(provides=[SubprocessRuntime], config=LocalSubprocessConfig)
async def local(ctx: Context, config: LocalSubprocessConfig) -> AsyncIterator[None]:
    """Programs on this machine, each in a contained tree."""
    async with open_runtime(config) as runtime:
        ctx.provide(SubprocessRuntime, runtime)
        yield
