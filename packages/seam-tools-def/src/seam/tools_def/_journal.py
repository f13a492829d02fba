"""The journal: append-only, ordered per turn, chained by hash."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Sequence
from typing import Literal

from pydantic import AwareDatetime, NonNegativeInt, PositiveInt

from seam.kernel import Service, Value
from seam.tools_def._records import Record


class Entry(Value):
    """A record with its place.

    Attributes:
        turn: id of the turn, or of the host's own sequence (`host:<start>`).
        sequence: 0-based, without gaps per turn.
        time: UTC.
        record: what happened.
        previous: hash of the entry before it in the turn; for the first one the turn's anchor, which the journal chooses.
        hash: `entry_hash` over turn, sequence, time, record and previous.
    """

    turn: str
    sequence: NonNegativeInt
    time: AwareDatetime
    record: Record
    previous: str
    hash: str


class TurnSummary(Value):
    """One turn of the journal, known by its `TurnOpened`; the host's own sequences are not turns.

    Attributes:
        turn: its id.
        started: time of its first entry, UTC.
        ended: time of its terminal record, or None.
        entries: how many it has.
        calls: how many calls were requested.
        unsettled: ids of calls that were started and have no settlement, in order: their outcome is unknown.
        state: how it was closed; `open` when it has no terminal record (running, or lost with its process).
    """

    turn: str
    agent: str
    session: str
    started: AwareDatetime
    ended: AwareDatetime | None
    entries: int
    calls: int
    unsettled: tuple[str, ...]
    state: Literal["open", "ended", "failed", "cancelled", "drained"]


class JournalQuery(Value):
    """Filters; all given ones must hold. `session` and `agent` are those of the turn's `TurnOpened`.

    Attributes:
        tool: entries of calls of this tool; entries that belong to no call do not match.
        outcome: entries of calls that ended so (`completed`, `refused`, ...), or `unknown`: started and not settled. In a
            `follow`, by what is known when the entry arrives.
        since: entries at or after this time; of turns, those that started then.
        until: entries before this time; of turns, those that started then.
        limit: entries at most, the oldest ones; of turns the newest ones. Ends a `follow` when it is reached.
    """

    turn: str | None = None
    session: str | None = None
    agent: str | None = None
    tool: str | None = None
    outcome: Literal["completed", "refused", "cancelled", "failed", "unavailable", "unknown"] | None = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    limit: PositiveInt | None = None


class Damage(Value):
    """Something that `verify` found. `place` names turn and sequence, or file and offset."""

    place: str
    problem: str


class Journal(Service, key="journal"):
    """Keeps the record. An `append` that returns is durable in the sense that `durability` states."""

    @property
    @abstractmethod
    def durability(self) -> str:
        """What an acknowledged entry survives, in one sentence."""

    @abstractmethod
    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        """Append in order, all or none; returns when durable.

        Calls of one turn append side by side: each append gets the next sequence numbers, without a gap. A call that is
        cancelled while it waits may or may not have been appended; it is never appended in part.

        Raises:
            JournalUnavailable: it cannot be written; nothing was appended.
            TurnClosedInJournal: the turn has its terminal record (also one among these, before the last), or another
                writer is at it.
            NotSerialisable: a record holds a value that JSON has not.
        """

    async def write(self, turn: str, *records: Record) -> None:
        """As `append`, for one who has no use for the entries; an implementer that can do it for less overrides it."""
        await self.append(turn, *records)

    @abstractmethod
    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        """The entries of a turn with a sequence above `after`, in order; empty for a turn that is not known."""

    @abstractmethod
    def query(self, query: JournalQuery) -> AsyncIterator[Entry]:
        """Entries that match, in the order of their time, a turn's always in the order of their sequence."""

    @abstractmethod
    def follow(self, query: JournalQuery) -> AsyncIterator[Entry]:
        """As `query`, then new ones as they arrive, until the iteration is closed."""

    @abstractmethod
    async def turns(self, query: JournalQuery) -> Sequence[TurnSummary]:
        """The turns that match, newest last."""

    @abstractmethod
    async def verify(self) -> Sequence[Damage]:
        """Check every chain and side file; an empty answer means nothing was removed or changed."""
