"""What all calls of one turn share: what is in view, what was refused, the record."""

from __future__ import annotations

from functools import partial

import anyio

from seam.tools_def import (
    CallRefusal,
    Noted,
    Owner,
    Record,
    SkillDocument,
    TurnEnded,
    TurnFailed,
    TurnOpening,
)
from seam.tools_runtime._aftermath import Aftermath
from seam.tools_runtime._catalogue import RuntimeCatalogue, Table
from seam.tools_runtime._config import RuntimeConfig
from seam.tools_runtime._view import View, lacks, out_of_view, view_of
from seam.tools_runtime._worker import Worker
from seam.tools_runtime._workers import Workers


class Session:
    """One turn from the inside.

    Attributes:
        refused: digests that a person said no to in this turn, with who and why.
        asking: one question at a time; the answer to one may settle the next.
        failure: why the record cannot be kept any more, or None.
        ended: how and why the turn ended, or None.
    """

    def __init__(
        self,
        opening: TurnOpening,
        catalogue: RuntimeCatalogue,
        workers: Workers,
        config: RuntimeConfig,
        aftermath: Aftermath,
    ) -> None:
        self.opening = opening
        self.catalogue = catalogue
        self.workers = workers
        self.config = config
        self.aftermath = aftermath
        self.table: Table = catalogue.table(opening.agent.name)
        self.owner = Owner.trusted(agent=opening.agent.name, session=opening.session)
        self.view: View = view_of(self.table, opening)
        self.refused: dict[str, tuple[str, str]] = {}
        self.asking = anyio.Lock()
        self.failure: TurnFailed | None = None
        self.ended: tuple[str, str] | None = None

    async def write(self, *records: Record, worker: Worker | None = None) -> None:
        """Append; returns when durable. No cancellation leaves in doubt whether something was written.

        Args:
            records: what happened.
            worker: in whose task this runs; its phase bounds the writing. Without one, the journal's own time does.

        Raises:
            TurnFailed: it cannot be written, or not in time; the turn is over.
        """
        if self.failure is not None:
            raise self.failure
        append = partial(self.opening.journal.write, self.opening.turn, *records)
        try:
            if worker is not None:
                await worker.write(append)
            else:
                with anyio.CancelScope(shield=True), anyio.fail_after(self.config.journal_timeout):
                    await append()
        except anyio.get_cancelled_exc_class():
            if worker is None or not worker.write_expired:
                raise
            raise self.fail(self._overdue()) from None
        except TimeoutError as overdue:
            raise self.fail(self._overdue(), overdue) from overdue
        except Exception as error:  # whatever a journal raises: nothing may run unrecorded
            raise self.fail(f"{type(error).__name__}: {error}", error) from error

    def _overdue(self) -> str:
        return f"it did not write within {self.config.journal_timeout:g} s"

    def fail(self, reason: str, cause: Exception | None = None) -> TurnFailed:
        """Remember that the record cannot be kept, and say so. The first reason stays."""
        if self.failure is None:
            self.failure = TurnFailed(
                f"turn {self.opening.turn!r} cannot go on: the journal cannot be written ({reason}); "
                "nothing runs unrecorded. Repair the journal and open a new turn.",
                turn=self.opening.turn,
                reason=reason,
            )
            self.failure.__cause__ = cause
        return self.failure

    def check_open(self) -> None:
        """Raise where the turn is over.

        Raises:
            TurnFailed: because its record cannot be kept.
            TurnEnded: because it was closed.
        """
        if self.failure is not None:
            raise self.failure
        if self.ended is not None:
            how, reason = self.ended
            because = f": {reason}" if reason else ""
            raise TurnEnded(
                f"turn ended: {self.opening.turn!r} was closed ({how}{because}); open a new one",
                turn=self.opening.turn,
                how=how,
            )

    async def describe_skill(self, skill: str) -> SkillDocument:
        """See `Turn.describe_skill`."""
        self.check_open()
        bound = self.table.skill_by_id.get(skill)
        visibility = bound.entry.visibility if bound is not None else None
        if (
            bound is None
            or visibility is None
            or out_of_view(visibility, self.opening.access)
            or (visibility.hidden and skill not in self.opening.agent.call_hidden)
        ):
            raise CallRefusal("visibility", f"there is no skill {skill[:80]!r} in view", skill=skill)
        missing = lacks(visibility, self.opening)
        if missing is not None:
            raise CallRefusal("permissions", f"skill {skill!r} is not permitted: {missing}", skill=skill)
        return await self.catalogue.shelf.fetch(bound)

    def note_late(self, call: str, topic: str, text: str) -> None:
        """Keep what became known when the turn's own record was closed, or may be."""
        record = Noted(topic=topic, text=text, call=call, data={"turn": self.opening.turn})
        self.aftermath.note(self.opening.journal, record)
