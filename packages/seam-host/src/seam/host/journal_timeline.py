"""One turn of the journal as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from seam.host._journal_steps import LONGEST, ending, output, seconds, shown, step
from seam.host._journal_style import STYLE
from seam.tools_def import (
    ApprovalAnswered,
    ApprovalAsked,
    CallRequested,
    CallSettled,
    CallStarted,
    Entry,
    Noted,
    Outcome,
    TurnClosed,
    TurnOpened,
)

__all__ = ["LONGEST", "timeline_page"]


@dataclass
class _Call:
    """The entries of one call."""

    id: str
    tool: str
    entries: list[Entry] = field(default_factory=list[Entry])

    @property
    def outcome(self) -> Outcome | None:
        return next((e.record.outcome for e in self.entries if isinstance(e.record, CallSettled)), None)

    @property
    def state(self) -> tuple[str, str]:
        """How it ended, and its tone."""
        if self.outcome is not None:
            return ending(self.outcome)
        if any(isinstance(entry.record, CallStarted) for entry in self.entries):
            return "outcome unknown", "bad"
        return "not started", "odd"

    @property
    def summary(self) -> str:
        return next(
            (e.record.summary for e in self.entries if isinstance(e.record, CallStarted | ApprovalAsked)), ""
        )

    def span(self, kind: type, until: type) -> Iterator[tuple[datetime, datetime]]:
        """From each record of one kind to the next of another."""
        begin: datetime | None = None
        for entry in self.entries:
            if isinstance(entry.record, kind) and begin is None:
                begin = entry.time
            elif isinstance(entry.record, until) and begin is not None:
                yield begin, entry.time
                begin = None
        if begin is not None:
            yield begin, self.entries[-1].time


def timeline_page(entries: Sequence[Entry]) -> str:
    """The page for the entries of one turn, in their order.

    Everything from the journal is shown as text: nothing in it can become markup, and no control character reaches the page.
    """
    calls = _calls(entries)
    title = f"Turn {entries[0].turn}" if entries else "No such turn"
    begin = entries[0].time if entries else None
    cards = "".join(_card(call, number, begin) for number, call in enumerate(calls) if begin is not None)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{shown(title)}</title>
<style>{STYLE}</style>
<h1>{shown(title)}</h1>
{_facts(entries, calls)}
{_lanes(entries, calls)}
{cards and "<h2>Calls</h2>" + cards}
{_notes(entries)}
</html>
"""


def _calls(entries: Sequence[Entry]) -> list[_Call]:
    calls: dict[str, _Call] = {}
    for entry in entries:
        name = getattr(entry.record, "call", None)
        if isinstance(name, str):
            call = calls.setdefault(name, _Call(name, "?"))
            call.entries.append(entry)
            if isinstance(entry.record, CallRequested | CallSettled):
                call.tool = entry.record.tool
    return list(calls.values())


def _facts(entries: Sequence[Entry], calls: Sequence[_Call]) -> str:
    if not entries:
        return '<p class="facts">The journal holds no entry of it.</p>'
    first, last = entries[0], entries[-1]
    facts: list[str] = []
    if isinstance(first.record, TurnOpened):
        access = first.record.access
        facts += [
            f"agent <b>{shown(first.record.agent)}</b>",
            f"session <b>{shown(first.record.session)}</b>",
            f"for <b>{shown(access.principal)}</b> through {shown(access.platform)} ({access.scope})",
            f"generation {first.record.generation}",
        ]
    facts.append(f"{first.time:%Y-%m-%d %H:%M:%S} UTC")
    closed = last.record if isinstance(last.record, TurnClosed) else None
    how = (
        f"{closed.how}{closed.reason and ': ' + closed.reason}"
        if closed
        else "open: running, or lost with its process"
    )
    facts.append(f"{len(calls)} call{'s' * (len(calls) != 1)} in {seconds(last.time, first.time)}")
    tone = "good" if closed and closed.how == "ended" else "bad"
    return f'<p class="facts">{" · ".join(facts)} · <span class="{tone}">{shown(how)}</span></p>'


def _lanes(entries: Sequence[Entry], calls: Sequence[_Call]) -> str:
    if not calls:
        return ""
    begin, whole = entries[0].time, max((entries[-1].time - entries[0].time).total_seconds(), 1e-6)

    def bar(start: datetime, end: datetime, style: str, title: str) -> str:
        left = 100 * (start - begin).total_seconds() / whole
        width = 100 * (end - start).total_seconds() / whole
        return f'<i class="{style}" style="left:{left:.2f}%;width:{width:.2f}%" title="{shown(title)}"></i>'

    rows = ""
    for number, call in enumerate(calls):
        state, tone = call.state
        bars = "".join(
            bar(start, end, "wait asked", f"a person is asked: {seconds(end, start)}")
            for start, end in call.span(ApprovalAsked, ApprovalAnswered)
        )
        running = list(call.span(CallStarted, CallSettled))
        if call.outcome is None and running:  # when it ended is not known
            bars += bar(running[-1][0], entries[-1].time, f"{tone} asked", state)
        else:
            bars += "".join(
                bar(start, end, tone, f"{state}: {seconds(end, start)}") for start, end in running
            )
        if not running:
            bars += bar(call.entries[-1].time, call.entries[-1].time, tone, state)
        took = _took(call)
        rows += f'<a href="#c{number}">{shown(call.tool)}</a><div class="track">{bars}</div><output>{took}</output>'
    axis = f'<span></span><div class="axis"><span>0</span><span>{seconds(entries[-1].time, begin)}</span></div><span></span>'
    return f'<div class="lanes">{rows}{axis}</div>'


def _took(call: _Call) -> str:
    return "?" if call.outcome is None else seconds(call.entries[-1].time, call.entries[0].time)


def _card(call: _Call, number: int, begin: datetime) -> str:
    state, tone = call.state
    steps = "".join(step(entry, begin) for entry in call.entries)
    took = _took(call)
    return (
        f'<section class="call {tone}" id="c{number}"><header><b>{shown(call.tool)}</b>'
        f'<span class="badge {tone}">{shown(state)}</span><span>{took}</span></header><div>'
        f'<p class="what">{shown(call.summary)}</p><ol>{steps}</ol>{output(call.outcome)}</div></section>'
    )


def _notes(entries: Sequence[Entry]) -> str:
    notes = [entry for entry in entries if isinstance(entry.record, Noted) and entry.record.call is None]
    if not notes:
        return ""
    return "<h2>Notes</h2><ol>" + "".join(step(entry, entries[0].time) for entry in notes) + "</ol>"
