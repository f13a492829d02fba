"""The plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator

from seam.journal_sqlite._config import SqliteJournalConfig
from seam.journal_sqlite._journal import SqliteJournal
from seam.kernel import Context, plugin
from seam.tools_def import Journal


@plugin(provides=[Journal], config=SqliteJournalConfig)
async def sqlite(ctx: Context, config: SqliteJournalConfig) -> AsyncIterator[None]:
    """Keeps the journal in one SQLite file."""
    async with SqliteJournal.open(config) as journal:
        ctx.provide(Journal, journal)
        yield
