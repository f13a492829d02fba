"""Entries as the journal in memory keeps them, and what queries ask about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from seam.tools_def import (
    Entry,
    JournalQuery,
    Record,
    TurnClosed,
    TurnOpened,
    TurnSummary,
    record_of,
)


@dataclass(slots=True)
class Stored:
    """An entry as it is kept: the record as text, so that nobody who holds one of its values can change it."""

    turn: Thread
    sequence: int
    time: datetime
    text: str
    previous: str
    hash: str
    call: str | None

    def entry(self) -> Entry:
        """A fresh entry, with a record of its own."""
        return self.with_record(record_of(self.text))

    def with_record(self, record: Record) -> Entry:
        """The entry around a record that equals the text."""
        return Entry.trusted(
            turn=self.turn.id,
            sequence=self.sequence,
            time=self.time,
            record=record,
            previous=self.previous,
            hash=self.hash,
        )


@dataclass(slots=True)
class CallState:
    """One call, as far as its records tell."""

    tool: str
    started: bool = False
    outcome: str | None = None

    @property
    def ending(self) -> str | None:
        """Kind of the outcome; `unknown` when it started and did not settle; None while it only waits."""
        return self.outcome or ("unknown" if self.started else None)

    def matches(self, query: JournalQuery) -> bool:
        """Whether the filters that speak of a call hold."""
        return query.tool in (None, self.tool) and query.outcome in (None, self.ending)


@dataclass(slots=True)
class Thread:
    """The entries of one turn, or of one of the host's own sequences."""

    id: str
    anchor: str
    opened: TurnOpened | None = None
    closed: TurnClosed | None = None
    entries: list[Stored] = field(default_factory=list[Stored])
    calls: dict[str, CallState] = field(default_factory=dict[str, CallState])

    def note(self, record: Record) -> None:
        """Keep what queries ask for."""
        match record.kind:  # by the word: asking a model for its class costs several times as much
            case "requested":
                self.calls[record.call] = CallState(record.tool)
            case "started":
                self.calls.setdefault(record.call, CallState("")).started = True
            case "settled":
                self.calls.setdefault(record.call, CallState(record.tool)).outcome = record.outcome.kind
            case "turn_opened":
                self.opened = record
            case "turn_closed":
                self.closed = record
            case _:
                pass

    def summary(self) -> TurnSummary | None:
        """The turn in short; None for what is not a turn."""
        if self.opened is None:
            return None
        return TurnSummary(
            turn=self.id,
            agent=self.opened.agent,
            session=self.opened.session,
            started=self.entries[0].time,
            ended=self.entries[-1].time if self.closed else None,
            entries=len(self.entries),
            calls=len(self.calls),
            unsettled=tuple(name for name, call in self.calls.items() if call.ending == "unknown"),
            state=self.closed.how if self.closed else "open",
        )

    def belongs(self, query: JournalQuery) -> bool:
        """Whether the filters that speak of the turn hold."""
        if query.turn is not None and query.turn != self.id:
            return False
        if query.session is None and query.agent is None:
            return True
        opened = self.opened
        return (
            opened is not None
            and query.session in (None, opened.session)
            and query.agent in (None, opened.agent)
        )

    def has_call(self, query: JournalQuery) -> bool:
        """Whether a call is there that the filters ask for, where they ask for one."""
        if query.tool is None and query.outcome is None:
            return True
        return any(call.matches(query) for call in self.calls.values())


def matches(stored: Stored, query: JournalQuery) -> bool:
    """Whether an entry passes all filters, by what is known now."""
    if not stored.turn.belongs(query):
        return False
    if query.since is not None and stored.time < query.since:
        return False
    if query.until is not None and stored.time >= query.until:
        return False
    if query.tool is None and query.outcome is None:
        return True
    call = stored.turn.calls.get(stored.call) if stored.call is not None else None
    return call is not None and call.matches(query)
