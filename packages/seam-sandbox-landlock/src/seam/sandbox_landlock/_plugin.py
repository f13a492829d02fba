"""The plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio

from seam.kernel import Context, plugin
from seam.sandbox_def import NetworkDecision, SandboxRuntime, network_decided
from seam.sandbox_landlock._config import LandlockConfig
from seam.sandbox_landlock._proxy import Recorder
from seam.sandbox_landlock._runtime import LandlockRuntime
from seam.subprocess_def import SubprocessRuntime


def recorder(ctx: Context) -> Recorder:
    """Hands the decisions of proxies to whoever keeps a record."""

    async def record(decision: NetworkDecision) -> None:
        for answer in await ctx.decide(network_decided, decision):
            answer.unwrap()

    return record


@plugin(requires=[SubprocessRuntime], provides=[SandboxRuntime], config=LandlockConfig)
async def landlock(ctx: Context, config: LandlockConfig) -> AsyncIterator[None]:
    """Provide the Landlock runtime; the self-test runs with the first command."""
    async with anyio.create_task_group() as tasks:
        runtime = LandlockRuntime(ctx[SubprocessRuntime], config, tasks, recorder(ctx))
        ctx.provide(SandboxRuntime, runtime)
        try:
            yield
        finally:
            runtime.close()
            tasks.cancel_scope.cancel()
