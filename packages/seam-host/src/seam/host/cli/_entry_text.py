"""A journal entry in one line."""

from __future__ import annotations

import json

from pydantic import JsonValue

from seam.host.cli._approval import action_text
from seam.host.cli._visible import visible
from seam.tools_def import (
    ApprovalAnswered,
    ApprovalAsked,
    CallDecided,
    CallRequested,
    CallSettled,
    CallStarted,
    Completed,
    Entry,
    Failed,
    Noted,
    Outcome,
    TurnClosed,
    TurnOpened,
)

STYLES = {
    "refused": "red",
    "failed": "red",
    "unavailable": "red",
    "cancelled": "yellow",
    "deny": "red",
    "ask": "yellow",
    "open": "yellow",
    "drained": "yellow",
}


def entry_text(entry: Entry) -> tuple[str, str]:
    """What an entry says, and the style to say it in."""
    text, style = _said(entry)
    return visible(text).replace("\n", " "), style


def _said(entry: Entry) -> tuple[str, str]:
    record = entry.record
    match record:
        case TurnOpened():
            who = f"{record.access.principal} through {record.access.platform}"
            return (
                f"turn of agent {record.agent}, session {record.session}, {who}, generation {record.generation}",
                "bold",
            )
        case CallRequested():
            return f"{record.call} requested: {record.tool} {_json(record.arguments)}", ""
        case CallDecided():
            return f"{record.call} {record.verdict} by {record.by}: {record.reason}", STYLES.get(
                record.verdict, ""
            )
        case ApprovalAsked():
            return f"{record.call} asked: {'; '.join(record.reasons)}", "yellow"
        case ApprovalAnswered():
            return f"{record.call} answered {_answer(record)}", STYLES.get(record.answer, "")
        case CallStarted():
            doing = "; ".join(action_text(action) for action in record.actions) or record.summary
            return f"{record.call} started, allowed by {record.allowed_by}: {doing}", ""
        case CallSettled():
            detail = f" ({record.detail})" if record.detail else ""
            return (
                f"{record.call} {_outcome(record.outcome)} after {record.seconds:.2f} s{detail}",
                STYLES.get(record.outcome.kind, "green"),
            )
        case TurnClosed():
            return f"turn {record.how}" + (f": {record.reason}" if record.reason else ""), STYLES.get(
                record.how, ""
            )
        case Noted():
            return f"{record.topic}: {record.text}", "dim"


def _answer(record: ApprovalAnswered) -> str:
    words = [record.answer, f"by {record.by}"]
    words += [record.reason] if record.reason else []
    words += [f"granted for {record.rule or record.grant}"] if record.grant not in (None, "once") else []
    words += ["too late"] if record.late else []
    return ", ".join(words)


def _outcome(outcome: Outcome) -> str:
    match outcome:
        case Completed():
            return "completed" if outcome.success else "completed without success"
        case Failed():
            return f"failed ({outcome.code}): {outcome.message}"
        case _:
            return f"{outcome.kind}: {outcome.reason}"


def _json(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:199]}…"
