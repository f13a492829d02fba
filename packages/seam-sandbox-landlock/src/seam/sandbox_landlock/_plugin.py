"""The plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio

from seam.kernel import Context, plugin
from seam.sandbox_def import SandboxRuntime
from seam.sandbox_landlock._config import LandlockConfig
from seam.sandbox_landlock._runtime import LandlockRuntime
from seam.subprocess_def import SubprocessRuntime


@plugin(requires=[SubprocessRuntime], provides=[SandboxRuntime], config=LandlockConfig)
async def landlock(ctx: Context, config: LandlockConfig) -> AsyncIterator[None]:
    """Provide the Landlock runtime; the self-test runs with the first command."""
    async with anyio.create_task_group() as tasks:
        runtime = LandlockRuntime(ctx[SubprocessRuntime], config, tasks)
        ctx.provide(SandboxRuntime, runtime)
        try:
            yield
        finally:
            runtime.close()
            tasks.cancel_scope.cancel()
