"""The timeline of a turn as HTML."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam.host.journal_timeline import LONGEST, timeline_page
from seam.tools_def import (
    Access,
    Action,
    ApprovalAnswered,
    ApprovalAsked,
    CallDecided,
    CallRequested,
    CallSettled,
    CallStarted,
    Cancelled,
    Completed,
    Entry,
    Failed,
    Image,
    Noted,
    Outcome,
    Record,
    Refused,
    Run,
    Text,
    TurnClosed,
    TurnOpened,
    Unavailable,
    Verdict,
    Write,
)

START = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
ACCESS = Access(principal="ann", platform="cli")


def turn(*records: tuple[float, Record], name: str = "t-7f3a") -> list[Entry]:
    """Entries at some seconds after the start."""
    return [
        Entry(
            turn=name,
            sequence=number,
            time=START + timedelta(seconds=after),
            record=record,
            previous="sha256:p",
            hash="sha256:h",
        )
        for number, (after, record) in enumerate(records)
    ]


def opened() -> TurnOpened:
    return TurnOpened(agent="default", session="s-12", access=ACCESS, generation=3)


def requested(call: str, tool: str, arguments: dict[str, str]) -> CallRequested:
    return CallRequested(
        call=call, tool=tool, arguments=dict(arguments), descriptor="sha256:d", source="plugin:exec-tool"
    )


def started(call: str, summary: str, by: str, *actions: Action) -> CallStarted:
    return CallStarted(call=call, digest="d", actions=actions, summary=summary, allowed_by=by, deadline=125)


def decided(call: str, verdict: Verdict, by: str, reason: str) -> CallDecided:
    return CallDecided(call=call, verdict=verdict, by=by, reason=reason, digest="d")


def settled(call: str, tool: str, outcome: Outcome, *, ran: bool = True, detail: str = "") -> CallSettled:
    return CallSettled(call=call, tool=tool, outcome=outcome, ran=ran, seconds=1, detail=detail)


def run(text: str) -> Run:
    return Run(dialect="bash", text=text, workdir="/home/ann/garden")


DENIED = "`write /etc/hosts` is denied by rule no-etc: system files stay as they are"
NO_RULE = "no rule allows `rm -r seeds/old`"
ASKED = ApprovalAsked(
    call="c2", approval="a1", digest="d", reasons=(NO_RULE, "shell runs programs"), summary="rm -r seeds/old"
)


def story() -> list[Entry]:
    """A turn with a call of each kind of end."""
    listing = Completed(value={"exit_code": 0}, content=(Text(text="Exit code 0\n M beds.toml\n?? seeds/"),))
    missing = "Exit code 1\nrm: cannot remove 'seeds/old': No such file or directory"
    unwell = Completed(success=False, value={"exit_code": 1}, content=(Text(text=missing),))
    limited = Failed(code="RATE_LIMITED", message="the provider asks to wait 20 s", retryable="yes")
    written = Write(path="/home/ann/garden/beds.toml")
    return turn(
        (0.0, opened()),
        (0.4, requested("c1", "shell", {"command": "git status --short"})),
        (0.41, decided("c1", "allow", "permissions: look", "every part of it is allowed")),
        (0.42, started("c1", "git status --short", "permissions: look", run("git status --short"))),
        (0.9, settled("c1", "shell", listing)),
        (
            1.6,
            requested("c2", "shell", {"command": "rm -r seeds/old", "description": "clear old seed lists"}),
        ),
        (1.61, decided("c2", "ask", "permissions", NO_RULE)),
        (1.62, ASKED),
        (
            7.9,
            ApprovalAnswered(call="c2", approval="a1", digest="d", answer="approve", by="ann", grant="once"),
        ),
        (7.92, started("c2", "rm -r seeds/old", "approval: ann", run("rm -r seeds/old"))),
        (8.3, settled("c2", "shell", unwell)),
        (8.9, requested("c3", "write_file", {"path": "/etc/hosts", "text": "x"})),
        (8.91, decided("c3", "deny", "permissions: no-etc", DENIED)),
        (8.92, settled("c3", "write_file", Refused(policy="permissions", reason=DENIED), ran=False)),
        (9.0, requested("c4", "web_search", {"query": "frost dates"})),
        (9.05, started("c4", "web_search: frost dates", "grant: g1")),
        (9.6, Noted(topic="hook.error", text="metrics raised ValueError: no clock", call="c4")),
        (12.1, settled("c4", "web_search", limited)),
        (12.2, requested("c5", "write_file", {"path": "beds.toml", "text": "[north]\n" * 30})),
        (12.25, started("c5", "write beds.toml, 240 bytes", "permissions: docs", written)),
        (
            13.0,
            Noted(topic="generation.published", text="generation 4: exec-tool was rebuilt, 11 carried over"),
        ),
    )


class Reader(HTMLParser):
    """What a browser would show, and what markup there is."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_it_tells_calls_decisions_output_and_times() -> None:
    page = Reader(timeline_page(story()))
    for told in (
        "Turn t-7f3a", "default", "s-12", "ann", "generation 3", "5 calls in 13.0 s", "open: running, or lost with its process",
        "git status --short", "in /home/ann/garden", "?? seeds/", "every part of it is allowed",
        "a person is asked", "approve", "by ann", "completed, without success", "No such file or directory",
        "deny", "system files stay as they are", "refused", "Nothing ran", "RATE_LIMITED", "hook.error",
        "outcome unknown", "write /home/ann/garden/beds.toml", "generation.published", "410 ms", "8.3 s", "?",
    ):  # fmt: skip
        assert told in page.text, told


def test_it_needs_nothing_from_outside_and_holds_no_script() -> None:
    page = timeline_page(story())
    tags = Reader(page).tags
    assert not {tag for tag, _ in tags} & {"script", "link", "iframe", "object", "form"}
    assert not re.search(r"(?:src|href|url)\s*[=(]\s*[\"']?\s*(?:https?:)?//", page)
    assert "default-src 'none'" in page
    links = [attributes["href"] for tag, attributes in tags if tag == "a"]
    names = {attributes.get("id") for _, attributes in tags}
    assert links
    assert all(link is not None and link[1:] in names for link in links), "a lane leads nowhere"


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Completed(), "completed"),
        (Refused(policy="p", reason="r"), "refused"),
        (Cancelled(reason="r"), "cancelled"),
        (Failed(code="C", message="m"), "failed"),
        (Unavailable(reason="r"), "unavailable"),
    ],
)
def test_every_kind_of_end_is_named(outcome: Outcome, state: str) -> None:
    end = settled("c", "t", outcome)
    closed = TurnClosed(how="failed", reason="the disk is full")
    page = Reader(timeline_page(turn((0, opened()), (1, end), (1, closed))))
    assert state in page.text
    assert "failed: the disk is full" in page.text


EVIL = "</pre><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\x1b[31m\x00\u202egnp.exe\udcff"


def test_nothing_in_the_journal_becomes_markup_or_controls_the_page() -> None:
    image = Image(media_type='image/svg+xml" onload="x', data='"><script>')
    outcome = Completed(value=EVIL, content=(Text(text=EVIL), image))
    page = timeline_page(
        turn(
            (0, opened().model_copy(update={"agent": EVIL, "session": EVIL})),
            (1, requested(EVIL, EVIL, {EVIL: EVIL})),
            (2, decided(EVIL, "ask", EVIL, EVIL)),
            (3, started(EVIL, EVIL, EVIL, Write(path=EVIL))),
            (4, settled(EVIL, EVIL, outcome, detail=EVIL)),
            (5, Noted(topic=EVIL, text=EVIL)),
            name=EVIL,
        )
    )
    assert not {tag for tag, _ in Reader(page).tags} & {"script", "img"}
    assert not re.search(r"[\x00-\x08\x0e-\x1f\u202e\ud800-\udfff]", page)
    page.encode("utf-8")


@given(st.text(st.characters(exclude_categories=[]), max_size=200))
@settings(deadline=None)
def test_any_text_leaves_the_page_whole(text: str) -> None:
    def tags(call: str, tool: str, value: str) -> list[str]:
        outcome = Completed(value=[value], content=(Text(text=value or "x"),))
        page = timeline_page(turn((0, opened()), (1, settled(call, tool, outcome)), name=call))
        page.encode("utf-8")
        # long values are folded
        return [tag for tag, _ in Reader(page).tags if tag not in ("details", "summary", "pre", "small")]

    assert tags(text, text, text) == tags("c", "t", "v")


def test_a_huge_output_is_cut_in_the_middle_and_says_so() -> None:
    text = "a" * LONGEST + "b" * LONGEST
    page = timeline_page(turn((0, opened()), (1, settled("c", "t", Completed(content=(Text(text=text),))))))
    assert f"{LONGEST} characters left out" in page
    assert len(page) < 2 * LONGEST
    assert "aaa" in page
    assert "bbb" in page


def test_a_turn_without_entries_is_said() -> None:
    assert "No such turn" in timeline_page([])
