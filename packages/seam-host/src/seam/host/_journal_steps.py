"""The steps of one call, and its output, as HTML. Everything from the journal becomes text, never markup."""

from __future__ import annotations

import json
import re
from datetime import datetime
from html import escape

from seam.tools_def import (
    Action,
    ApprovalAnswered,
    ApprovalAsked,
    CallDecided,
    CallRequested,
    CallSettled,
    CallStarted,
    Connect,
    Entry,
    Image,
    Noted,
    Outcome,
    Read,
    Resource,
    Run,
    Text,
    Widen,
    Write,
)

LONGEST = 20_000
"""Characters of one text that are shown; the journal keeps the rest."""

TONES = {"completed": "good", "failed": "bad", "unavailable": "bad", "refused": "wait", "cancelled": "odd"}
VERDICTS = {"allow": "good", "deny": "bad", "ask": "wait"}


def ending(outcome: Outcome) -> tuple[str, str]:
    """A word for an outcome, and its tone."""
    if outcome.kind == "completed" and not outcome.success:
        return "completed, without success", "bad"
    return outcome.kind, TONES[outcome.kind]


def step(entry: Entry, begin: datetime) -> str:
    told = _told(entry)
    return f"<li><time>{seconds(entry.time, begin)}</time><div>{told}</div></li>" if told else ""


def _told(entry: Entry) -> str:
    match entry.record:
        case CallRequested(arguments=arguments, source=source):
            where = f" <small>{shown(source)}</small>" if source else ""
            return f"<em>requested</em>{where}<br>{_folded('arguments', _json(arguments))}"
        case CallDecided(verdict=verdict, by=by, reason=reason):
            return f'<em class="{VERDICTS[verdict]}">{verdict}</em> by {shown(by)}: {shown(reason)}'
        case ApprovalAsked(reasons=reasons):
            return f'<em class="wait">a person is asked</em> {shown("; ".join(reasons))}'
        case ApprovalAnswered() as answered:
            return _answer(answered)
        case CallStarted(actions=actions, allowed_by=allowed_by, deadline=deadline):
            does = "".join(f"<br><small>{shown(_action(action))}</small>" for action in actions)
            return (
                f'<em class="run">started</em>, allowed by {shown(allowed_by)}, at most {deadline:g} s{does}'
            )
        case CallSettled(outcome=outcome, ran=ran, detail=detail):
            word, tone = ending(outcome)
            small = " ".join(part for part in ("" if ran else "Nothing ran.", detail) if part)
            return f'<em class="{tone}">{word}</em>{_why(outcome)} <small>{shown(small)}</small>'
        case Noted(topic=topic, text=text):
            return f"<em>{shown(topic)}</em> {shown(text)}"
        case _:
            return ""


def _answer(answered: ApprovalAnswered) -> str:
    tone = {"approve": "good", "edit": "good", "deny": "bad"}.get(answered.answer, "odd")
    late = " (late: it starts nothing)" if answered.late else ""
    parts = [f"by {answered.by}" if answered.by else "", answered.reason]
    if answered.grant not in (None, "once"):
        parts.append(f"reaches further: {answered.grant}{f' `{answered.rule}`' if answered.rule else ''}")
    edited = (
        "<br>" + _folded("edited arguments", _json(answered.arguments)) if answered.answer == "edit" else ""
    )
    told = "; ".join(part for part in parts if part)
    return f'<em class="{tone}">{answered.answer}</em>{late} {shown(told)}{edited}'


def _action(action: Action) -> str:
    match action:
        case Run(text=text, argv=argv, workdir=workdir):
            return f"run {text or ' '.join(argv)} (in {workdir})"
        case Read(path=path):
            return f"read {path}"
        case Write(path=path):
            return f"write {path}"
        case Connect(host=host, port=port):
            return f"connect to {host}{f':{port}' if port is not None else ''}"
        case Widen(mode=mode, why=why):
            return f"widen to {mode}: {why}"


def _why(outcome: Outcome) -> str:
    match outcome.kind:
        case "completed":
            return ""
        case "failed":
            return f" {shown(outcome.code)}: {shown(outcome.message)}"
        case "refused":
            return f" by {shown(outcome.policy)}: {shown(outcome.reason)}"
        case _:
            return f": {shown(outcome.reason)}"


def output(outcome: Outcome | None) -> str:
    if outcome is None:
        return ""
    page = ""
    for item in outcome.content:
        match item:
            case Text(text=text):
                page += f"<pre>{_bounded(text)}</pre>" if text else ""
            case Image(media_type=kind, data=data) if re.fullmatch(r"image/[a-z0-9.+-]+", kind):
                page += f'<img alt="" src="data:{kind};base64,{escape(data)}">'
            case Image(media_type=kind):
                page += f'<p class="cut">an image of type {shown(kind)}</p>'
            case Resource(path=path, title=title):
                page += f'<p class="cut">{shown(title or "file")}: {shown(path)}</p>'
    return page + (_folded("value", _json(outcome.value)) if outcome.value is not None else "")


def _folded(title: str, text: str) -> str:
    if len(text) <= 80 and "\n" not in text:
        return f"<small>{title} {shown(text)}</small>"
    return f"<details><summary>{title}</summary><pre>{_bounded(text)}</pre></details>"


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else json.dumps(value, ensure_ascii=False, indent=2)


def _bounded(text: str) -> str:
    if len(text) <= LONGEST:
        return shown(text)
    left = len(text) - LONGEST
    return f'{shown(text[: LONGEST // 2])}<span class="cut">\n[... {left} characters left out ...]\n</span>{shown(text[-LONGEST // 2 :])}'


def shown(text: str) -> str:
    # control characters and lone surrogates are shown, not obeyed; direction marks could make a text look like another
    return escape(
        re.sub(
            r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]",
            _visible,
            text,
        )
    )


def _visible(found: re.Match[str]) -> str:
    code = ord(found.group())
    return chr(0x2400 + code) if code < 0x20 else f"\\u{code:04x}"


def seconds(end: datetime, start: datetime) -> str:
    seconds = (end - start).total_seconds()
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {seconds % 60:02.0f} s"
