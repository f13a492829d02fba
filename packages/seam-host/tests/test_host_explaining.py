"""What the command line says of records, and what it concludes of verdicts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from seam.host._outcomes import ReloadOutcome
from seam.host.cli._calling import code_of
from seam.host.cli._entry_text import entry_text
from seam.host.cli._exits import Exit
from seam.host.cli._explaining import conclude
from seam.host.cli._serving import reload_text
from seam.tools_def import (
    Access,
    Action,
    Agent,
    ApprovalAnswered,
    ApprovalAsked,
    CallDecided,
    CallInfo,
    CallRequested,
    CallSettled,
    CallStarted,
    Cancelled,
    Completed,
    Descriptor,
    Effects,
    Entry,
    Failed,
    Noted,
    Outcome,
    Record,
    Refused,
    RequiresApproval,
    ResolvedCall,
    Run,
    TurnClosed,
    TurnOpened,
    Unavailable,
    Verdict,
    Widen,
)

ACCESS = Access(principal="ada", platform="cli")
WIDEN = Widen(mode="full-access", why="to install")


def info(*, requires: RequiresApproval, effects: Effects, actions: tuple[Action, ...] = ()) -> CallInfo:
    descriptor = Descriptor(
        name="t",
        description="d",
        parameters={},
        effects=effects,
        requires_approval=requires,
        source="plugin:x",
    )
    resolved = ResolvedCall(
        tool="t",
        descriptor=descriptor.digest,
        arguments={},
        effects=effects,
        actions=actions,
        deadline=1,
        summary="t",
    )
    agent = Agent(name="default", workspace="/ws")
    return CallInfo(
        turn="t1", call="c", agent=agent, session="s", access=ACCESS, descriptor=descriptor, resolved=resolved
    )


RISKY, HARMLESS, UNKNOWN = (
    Effects(kinds=frozenset({"writes"})),
    Effects(kinds=frozenset({"reads"})),
    Effects(known=False),
)


@pytest.mark.parametrize(
    ("said", "requires", "effects", "actions", "verdict"),
    [
        ((), "on-risk", HARMLESS, (), "allow"),
        ((), "on-risk", RISKY, (), "ask"),
        ((), "on-risk", UNKNOWN, (), "ask"),
        ((), "never", RISKY, (), "allow"),
        ((), "always", HARMLESS, (), "ask"),
        (("allow",), "on-risk", RISKY, (), "allow"),
        (("allow",), "always", RISKY, (), "ask"),
        (("allow", "ask"), "on-risk", HARMLESS, (), "ask"),
        (("allow", "ask", "deny"), "never", HARMLESS, (), "deny"),
        ((), "never", HARMLESS, (WIDEN,), "ask"),
        (("allow",), "never", HARMLESS, (WIDEN,), "allow"),
    ],
)
def test_deny_beats_ask_beats_allow_and_an_allow_waives_risk_only(
    said: tuple[Verdict, ...],
    requires: RequiresApproval,
    effects: Effects,
    actions: tuple[Action, ...],
    verdict: Verdict,
) -> None:
    decisions = [
        CallDecided(call="c", verdict=one, by="rules", reason=f"says {one}", digest=None) for one in said
    ]
    found, why = conclude(info(requires=requires, effects=effects, actions=actions), decisions)
    assert found == verdict
    if verdict != "allow":
        assert why
    if verdict == "deny":
        assert why == ["rules: says deny"]


OUTCOMES: list[tuple[Outcome, Exit]] = [
    (Completed(), Exit.DONE),
    (Completed(success=False), Exit.UNSUCCESSFUL),
    (Refused(policy="p", reason="r"), Exit.REFUSED),
    (Cancelled(reason="r"), Exit.CANCELLED),
    (Failed(code="X", message="m"), Exit.FAILED),
    (Unavailable(reason="r"), Exit.UNAVAILABLE),
]


@pytest.mark.parametrize(("outcome", "code"), OUTCOMES)
def test_each_way_to_end_has_an_exit_code(outcome: Outcome, code: Exit) -> None:
    assert code_of(outcome) == code


RECORDS: list[tuple[Record, str]] = [
    (
        TurnOpened(agent="a", session="s", access=ACCESS, generation=3),
        "agent a, session s, ada through cli, generation 3",
    ),
    (
        CallRequested(call="c", tool="t", arguments={"x": "\x1b[2J"}, descriptor=None, source=None),
        't {"x": "\\u001b[2J"}',
    ),
    (
        CallDecided(call="c", verdict="deny", by="rules", reason="no\nway", digest=None),
        "deny by rules: no way",
    ),
    (
        ApprovalAsked(call="c", approval="p", digest="d", reasons=("one", "two"), summary=""),
        "asked: one; two",
    ),
    (
        ApprovalAnswered(
            call="c",
            approval="p",
            digest="d",
            answer="approve",
            by="ada",
            grant="rule",
            rule="ls *",
            late=True,
        ),
        "approve, by ada, granted for ls *, too late",
    ),
    (
        CallStarted(
            call="c",
            digest="d",
            actions=(Run(dialect="argv", text="", argv=("ls", "a b"), workdir="/w"),),
            summary="s",
            allowed_by="rules",
            deadline=1,
        ),
        "allowed by rules: run in /w: ls 'a b'",
    ),
    (
        CallSettled(
            call="c", tool="t", outcome=Failed(code="X", message="m"), ran=True, seconds=1.5, detail="late"
        ),
        "failed (X): m after 1.50 s (late)",
    ),
    (TurnClosed(how="drained", reason="reload"), "turn drained: reload"),
    (Noted(topic="hook.error", text="it \u202eraised"), "hook.error: it \\u202eraised"),
]


@pytest.mark.parametrize(("record", "expected"), RECORDS, ids=lambda value: getattr(value, "kind", ""))
def test_each_record_is_one_line_that_hides_nothing(record: Record, expected: str) -> None:
    entry = Entry(turn="t1", sequence=0, time=datetime.now(UTC), record=record, previous="", hash="")
    text, _ = entry_text(entry)
    assert expected in text
    assert "\n" not in text
    assert text.isprintable()


@pytest.mark.parametrize("kind", ["published", "unchanged", "refused", "restart"])
def test_each_reload_is_told_with_what_changed(kind: str) -> None:
    outcome = ReloadOutcome.model_validate(
        {"kind": kind, "generation": 4, "changed": ("seam.toml",), "rebuilt": ("a",), "problems": ("p",)}
    )
    text = reload_text(outcome)
    assert "seam.toml" in text
    assert "generation 4" in text
