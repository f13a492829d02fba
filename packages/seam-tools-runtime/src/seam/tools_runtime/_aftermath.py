"""What becomes known when a call or turn is over: kept in a sequence of the runtime's own."""

from __future__ import annotations

import logging
import uuid

import anyio
from anyio.abc import TaskGroup

from seam.tools_def import Journal, Noted


class Aftermath:
    """Appends notes in tasks of its own, so that nobody waits for them.

    Attributes:
        sequence: the name in the journal, `runtime:<id>`; it is not a turn.
    """

    def __init__(self, tasks: TaskGroup, journal_timeout: float) -> None:
        self._tasks = tasks
        self._timeout = journal_timeout
        self._log = logging.getLogger("seam.tools_runtime")
        self.sequence = f"runtime:{uuid.uuid4().hex}"

    def note(self, journal: Journal, record: Noted) -> None:
        """Append soon. What cannot be written is logged: no call is left that could fail for it."""
        self._tasks.start_soon(self._append, journal, record)

    async def _append(self, journal: Journal, record: Noted) -> None:
        with anyio.CancelScope(shield=True, deadline=anyio.current_time() + self._timeout) as bound:
            try:
                await journal.append(self.sequence, record)
                return
            except Exception as error:
                self._log.error("%s: %s (not in the journal: %s)", record.topic, record.text, error)
                return
        if bound.cancelled_caught:
            self._log.error("%s: %s (the journal did not write in time)", record.topic, record.text)
