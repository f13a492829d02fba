"""The questions of `JournalQuery` in SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from seam.journal_sqlite._ledger import micros, time_of
from seam.journal_sqlite._request import decoded, encoded
from seam.tools_def import JournalQuery, TurnSummary

Parameters = dict[str, object]


def entries_condition(query: JournalQuery) -> tuple[str, Parameters]:
    """A condition on `e` (entries) and `t` (turns)."""
    conditions, parameters = _turn_conditions(query)
    if query.since is not None:
        conditions.append("e.time >= :since")
    if query.until is not None:
        conditions.append("e.time < :until")
    call = _call_conditions(query, parameters, "e.turn", "e.call")
    if call:
        conditions += ["e.call IS NOT NULL", *call]
    return " AND ".join(conditions) or "1", parameters


def _turn_conditions(query: JournalQuery) -> tuple[list[str], Parameters]:
    conditions: list[str] = []
    parameters: Parameters = {}
    for name, value in (("turn", query.turn), ("session", query.session), ("agent", query.agent)):
        if value is not None:
            conditions.append(f"t.{name} = :{name}")
            parameters[name] = encoded(value)
    for name, time in (("since", query.since), ("until", query.until)):
        if time is not None:
            parameters[name] = micros(time)
    return conditions, parameters


def _call_conditions(query: JournalQuery, parameters: Parameters, turn: str, call: str) -> list[str]:
    # what is asked of a call is told by its records: the request names the tool, the settlement the outcome
    def among(condition: str) -> str:
        return f"EXISTS (SELECT 1 FROM entries c WHERE c.turn = {turn} AND c.call = {call} AND {condition})"

    conditions: list[str] = []
    if query.tool is not None:
        parameters["tool"] = encoded(query.tool)
        conditions.append(among("c.tool = :tool"))
    if query.outcome == "unknown":
        conditions += [among("c.kind = 'started'"), "NOT " + among("c.kind = 'settled'")]
    elif query.outcome is not None:
        parameters["outcome"] = query.outcome
        conditions.append(among("c.kind = 'settled' AND c.outcome = :outcome"))
    return conditions


def summaries(connection: sqlite3.Connection, query: JournalQuery) -> Sequence[TurnSummary]:
    """The turns that match, newest last; `limit` keeps the newest."""
    conditions, parameters = _turn_conditions(query)
    conditions.append("t.agent IS NOT NULL")  # the host's own sequences are not turns
    if query.since is not None:
        conditions.append("t.started >= :since")
    if query.until is not None:
        conditions.append("t.started < :until")
    call = _call_conditions(query, parameters, "t.ordinal", "k.call")
    if call:
        conditions.append(
            "EXISTS (SELECT 1 FROM entries k WHERE k.turn = t.ordinal AND k.call IS NOT NULL AND "
            + " AND ".join(call)
            + ")"
        )
    found = connection.execute(
        "SELECT ordinal, turn, agent, session, started, ended, entries, state FROM turns t"
        f" WHERE {' AND '.join(conditions)} ORDER BY ordinal DESC LIMIT :limit",
        {**parameters, "limit": -1 if query.limit is None else query.limit},
    ).fetchall()
    return [_summary(connection, *row) for row in reversed(found)]


def _summary(
    connection: sqlite3.Connection,
    ordinal: int,
    turn: bytes,
    agent: bytes,
    session: bytes,
    started: int,
    ended: int | None,
    entries: int,
    state: bytes,
) -> TurnSummary:
    (calls,) = connection.execute(
        "SELECT count(DISTINCT call) FROM entries WHERE turn = ? AND call IS NOT NULL"
        " AND kind IN ('requested', 'started', 'settled')",
        (ordinal,),
    ).fetchone()
    unsettled = connection.execute(
        "SELECT call FROM entries e WHERE turn = ? AND call IS NOT NULL AND kind = 'started' AND NOT EXISTS"
        " (SELECT 1 FROM entries s WHERE s.turn = e.turn AND s.call = e.call AND s.kind = 'settled')"
        " GROUP BY call ORDER BY min(sequence)",
        (ordinal,),
    ).fetchall()
    return TurnSummary.model_validate(
        {
            "turn": decoded(turn),
            "agent": decoded(agent),
            "session": decoded(session),
            "started": time_of(started),
            "ended": None if ended is None else time_of(ended),
            "entries": entries,
            "calls": calls,
            "unsettled": tuple(decoded(call) for (call,) in unsettled),
            "state": state.decode("ascii", "replace"),
        }
    )
