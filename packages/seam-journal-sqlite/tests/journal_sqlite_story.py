"""Records that the tests write."""

from __future__ import annotations

from seam.journal_sqlite import SqliteJournal
from seam.tools_def import (
    Access,
    CallRequested,
    CallSettled,
    CallStarted,
    Completed,
    Outcome,
    Text,
    TurnClosed,
    TurnOpened,
)


def opened(session: str = "s1") -> TurnOpened:
    return TurnOpened(
        agent="default", session=session, access=Access(principal="ann", platform="cli"), generation=1
    )


def requested(call: str, tool: str = "shell") -> CallRequested:
    return CallRequested(call=call, tool=tool, arguments={"n": 1}, descriptor="sha256:d", source="plugin:p")


def started(call: str) -> CallStarted:
    return CallStarted(
        call=call, digest="sha256:c", actions=(), summary="run", allowed_by="policy", deadline=60
    )


def settled(call: str, outcome: Outcome | None = None, tool: str = "shell") -> CallSettled:
    return CallSettled(call=call, tool=tool, outcome=outcome or Completed(value=1), ran=True, seconds=0.5)


def output(size: int, letter: str = "x") -> Completed:
    return Completed(value={"stdout": letter * size}, content=(Text(text="done"),))


def closed() -> TurnClosed:
    return TurnClosed(how="ended")


async def whole_turn(
    journal: SqliteJournal, turn: str, calls: int = 1, outcome: Outcome | None = None
) -> None:
    """A turn from its beginning to its end."""
    await journal.append(turn, opened())
    for number in range(calls):
        call = f"c{number}"
        await journal.append(turn, requested(call), started(call))
        await journal.append(turn, settled(call, outcome))
    await journal.append(turn, closed())
