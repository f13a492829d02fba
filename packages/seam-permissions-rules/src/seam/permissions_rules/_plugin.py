"""The plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator

from seam.kernel import Context, plugin
from seam.permissions_rules._config import RulesConfig
from seam.permissions_rules._service import RulesPermissions
from seam.tools_def import Permissions


@plugin(provides=[Permissions], config=RulesConfig)
async def rules(ctx: Context, config: RulesConfig) -> AsyncIterator[None]:
    """Decides by the rules of its row."""
    ctx.provide(Permissions, RulesPermissions(config))
    yield
