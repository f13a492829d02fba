"""The plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator

from seam.exec_def import Secrets, ShellExecutor
from seam.exec_local import LocalExecConfig, executor
from seam.exec_sandbox._wrapper import SandboxWrapper
from seam.kernel import Context, plugin
from seam.sandbox_def import SandboxPolicy, SandboxRuntime
from seam.subprocess_def import SubprocessRuntime


class SandboxExecConfig(LocalExecConfig):
    """Configuration of the plugin `sandbox`: that of exec-local, whose commands it wraps. What a command may do is
    configured on `implement.sandbox_policy`, how it is enforced on `implement.sandbox_runtime`."""


@plugin(
    requires=[SubprocessRuntime, SandboxPolicy, SandboxRuntime],
    optional=[Secrets],
    provides=[ShellExecutor],
    config=SandboxExecConfig,
)
async def sandbox(ctx: Context, config: SandboxExecConfig) -> AsyncIterator[None]:
    """Provide `exec`: commands run confined, or not at all."""
    async with executor(
        ctx[SubprocessRuntime],
        config,
        secrets=ctx.get(Secrets),
        wrapper=SandboxWrapper(ctx[SandboxPolicy], ctx[SandboxRuntime]),
        distribution="seam-exec-sandbox",
    ) as made:
        ctx.provide(ShellExecutor, made)
        yield
