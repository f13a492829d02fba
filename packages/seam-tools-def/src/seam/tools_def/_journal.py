"""The journal: append-only, ordered per turn, chained by hash."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Literal

from seam.kernel import Service
from seam.tools_def._json import Value
from seam.tools_def._records import Record


class Entry(Value):
    """A record with its place.

    Attributes:
        turn: id of the turn, or of the host's own sequence (`host:<start>`).
        sequence: 0-based, without gaps per turn.
        time: UTC.
        record: what happened.
        previous: hash of the entry before it in the turn (of the turn's anchor for the first).
        hash: over turn, sequence, time, record and previous.
    """

    turn: str
    sequence: int
    time: datetime
    record: Record
    previous: str
    hash: str


class TurnSummary(Value):
    """One turn of the journal. `state` is `open` when it has no terminal record (running, or lost with its process)."""

    turn: str
    agent: str
    session: str
    started: datetime
    ended: datetime | None
    entries: int
    calls: int
    unsettled: tuple[str, ...]
    state: Literal["open", "ended", "failed", "cancelled", "drained"]


class JournalQuery(Value):
    """Filters; all given ones must hold.

    Attributes:
        outcome: kind of the outcome (`completed`, `refused`, ...), or `unknown` for a started call without settlement.
        limit: entries at most.
    """

    turn: str | None = None
    session: str | None = None
    agent: str | None = None
    tool: str | None = None
    outcome: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    limit: int | None = None


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

        Raises:
            JournalUnavailable: it cannot be written; nothing was appended.
            TurnClosedInJournal: the turn has its terminal record, or another writer is at it.
        """

    @abstractmethod
    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        """The entries of a turn with a sequence above `after`, in order."""

    @abstractmethod
    def query(self, query: JournalQuery) -> AsyncIterator[Entry]:
        """Entries that match, in the order of their time."""

    @abstractmethod
    def follow(self, query: JournalQuery) -> AsyncIterator[Entry]:
        """As `query`, then new ones as they arrive, until the iteration is closed."""

    @abstractmethod
    async def turns(self, query: JournalQuery) -> Sequence[TurnSummary]:
        """The turns that match, newest last."""

    @abstractmethod
    async def verify(self) -> Sequence[Damage]:
        """Check every chain and side file; an empty answer means nothing was removed or changed."""
