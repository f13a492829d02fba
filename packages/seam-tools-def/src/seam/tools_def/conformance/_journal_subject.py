"""A journal under test, and the records that the checks write."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from seam.tools_def._access import Access
from seam.tools_def._journal import Entry, Journal
from seam.tools_def._outcome import Completed, Outcome
from seam.tools_def._records import (
    CallRequested,
    CallSettled,
    CallStarted,
    Record,
    TurnClosed,
    TurnOpened,
)

JournalLack = Literal["reopen", "damage"]
"""What a journal may honestly lack: keeping entries beyond its closing, and a place where a tester can change a stored entry."""


@dataclass(frozen=True, kw_only=True)
class JournalSubject:
    """How the checks get at a journal. A fresh subject, with an empty place, is made for each check.

    Attributes:
        name: for the behaviour card.
        open: opens the journal at this subject's place; the first time it is empty. Leaving the context closes it.
        lacks: flags; a check that needs one of them is left out.
        damage: changes one stored entry behind the journal's back, so that its content differs; called while it is open.
    """

    name: str
    open: Callable[[], AbstractAsyncContextManager[Journal]]
    lacks: frozenset[JournalLack] = frozenset()
    damage: Callable[[Entry], Awaitable[None]] | None = None


def opened(agent: str = "default", session: str = "s1") -> TurnOpened:
    """The first record of a turn."""
    return TurnOpened(
        agent=agent, session=session, access=Access(principal="ann", platform="cli"), generation=1
    )


def requested(call: str, tool: str = "echo", arguments: JsonValue = None) -> CallRequested:
    """A call arrives."""
    return CallRequested(call=call, tool=tool, arguments=arguments, descriptor="sha256:d", source="plugin:p")


def started(call: str) -> CallStarted:
    """A call starts."""
    return CallStarted(
        call=call, digest="sha256:c", actions=(), summary="echo", allowed_by="effects", deadline=1
    )


def settled(call: str, tool: str = "echo", outcome: Outcome | None = None) -> CallSettled:
    """A call ends."""
    return CallSettled(call=call, tool=tool, outcome=outcome or Completed(), ran=True, seconds=0.25)


def closed(how: Literal["ended", "failed", "cancelled", "drained"] = "ended") -> TurnClosed:
    """The terminal record."""
    return TurnClosed(how=how)


async def written(journal: Journal, turn: str, *records: Record) -> Sequence[Entry]:
    """Append and read the whole turn back."""
    await journal.append(turn, *records)
    return await journal.read(turn)
