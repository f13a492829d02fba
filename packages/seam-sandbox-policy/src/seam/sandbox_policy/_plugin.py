"""The plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from seam.kernel import Context, plugin
from seam.sandbox_def import SandboxPolicy
from seam.sandbox_policy._config import PolicyConfig
from seam.sandbox_policy._resolver import ConfiguredPolicy


@plugin(provides=[SandboxPolicy], config=PolicyConfig)
async def policy(ctx: Context, config: PolicyConfig) -> AsyncIterator[None]:
    """Provide the policy that the deployment's row describes."""
    ctx.provide(SandboxPolicy, ConfiguredPolicy(config, home=str(Path.home())))
    yield
