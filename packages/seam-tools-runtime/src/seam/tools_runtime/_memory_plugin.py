"""The plugin that provides the journal in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

from pydantic import BaseModel, ConfigDict, PositiveInt

from seam.kernel import Context, plugin
from seam.tools_def import Journal
from seam.tools_runtime._memory_journal import MemoryJournal


class MemoryJournalConfig(BaseModel):
    """Configuration of the journal in memory."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    entries: PositiveInt = 100_000
    """How many entries are kept; beyond it the oldest closed turns are forgotten."""


@plugin(provides=[Journal], config=MemoryJournalConfig)
async def memory(ctx: Context, config: MemoryJournalConfig) -> AsyncIterator[None]:
    """A journal that ends with the process."""
    ctx.provide(Journal, MemoryJournal(entries=config.entries))
    yield
