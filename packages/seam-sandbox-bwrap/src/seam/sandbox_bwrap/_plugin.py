"""The plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio

from seam.kernel import Context, plugin
from seam.sandbox_bwrap._config import BwrapConfig
from seam.sandbox_bwrap._runtime import BwrapRuntime
from seam.sandbox_def import SandboxRuntime
from seam.sandbox_landlock import recorder
from seam.subprocess_def import SubprocessRuntime


@plugin(requires=[SubprocessRuntime], provides=[SandboxRuntime], config=BwrapConfig)
async def bwrap(ctx: Context, config: BwrapConfig) -> AsyncIterator[None]:
    """Provide the bubblewrap runtime; the self-test runs with the first command."""
    async with anyio.create_task_group() as tasks:
        runtime = BwrapRuntime(ctx[SubprocessRuntime], config, tasks, recorder(ctx))
        ctx.provide(SandboxRuntime, runtime)
        try:
            yield
        finally:
            runtime.close()
            tasks.cancel_scope.cancel()
