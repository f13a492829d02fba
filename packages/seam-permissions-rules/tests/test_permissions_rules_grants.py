"""What a person may grant for a session, and what it covers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from permissions_rules_calls import ACCESS, AGENT, call, permissions, shell

from seam.permissions_rules import RulesConfig, RulesPermissions
from seam.tools_def import Action, Connect, Read, Run, Widen, Write

EMPTY = RulesPermissions(RulesConfig())


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("git status --short", "run git status *"),
        ("ls -la /w", "run ls *"),
        ("git status && git diff --stat", "run git status *; run git diff *"),
        ("git log > /w/out/log.txt", "run git log *; write /w/out/**"),
        ("pytest -q 2>/dev/null", "run pytest *"),
        ("rm -rf x", None),
        ("sudo apt update", None),
        ("bash -c 'git status'", None),
        ("env git status", None),
        ("python x.py", None),
        ("git status $(date)", "run date *; run git status *"),
        ("$x", None),
        ("X=1 git status", None),
        ("git status > $x", None),
        ("echo a > /x", None),
        ("if", None),
    ],
)
def test_what_is_offered_is_what_covers_it(text: str, offered: str | None) -> None:
    rules = EMPTY.offers(shell(text), AGENT, ACCESS)
    assert rules == (() if offered is None else (offered,))
    assert all(EMPTY.covers(rule, shell(text), AGENT, ACCESS) for rule in rules)


@pytest.mark.parametrize(
    ("action", "offered"),
    [
        (Read(path="/w/docs/a.md"), "read /w/docs/**"),
        (Write(path="docs/a.md"), "write /w/docs/**"),
        (Write(path="/etc"), None),
        (Connect(host="example.org", port=443), "connect example.org:443"),
        (Widen(mode="full-access", why="w"), None),
        (Run(dialect="argv", text="", argv=("git", "status"), workdir="/w"), "run git status *"),
    ],
)
def test_what_is_offered_for_actions(action: Action, offered: str | None) -> None:
    rules = EMPTY.offers(call(action), AGENT, ACCESS)
    assert rules == (() if offered is None else (offered,))
    assert all(EMPTY.covers(rule, call(action), AGENT, ACCESS) for rule in rules)


def test_a_call_without_actions_is_granted_as_every_call_and_that_covers_no_action() -> None:
    assert EMPTY.offers(call(), AGENT, ACCESS) == ("every call",)
    assert EMPTY.covers("every call", call(), AGENT, ACCESS)
    assert not EMPTY.covers("every call", shell("ls"), AGENT, ACCESS)


@pytest.mark.parametrize(
    ("rule", "text", "covered"),
    [
        ("run git status *", "git status", True),
        ("run git status *", "git status -s | git status", True),
        ("run git status *", "git status; rm x", False),
        ("run git status *", "git status\nrm x", False),
        ("run git status *", "git status > f", False),
        ("run git status *", "git status $(rm x)", False),
        ("run git status *", "X=1 git status", False),
        ("run git status *", "./git status", False),
        ("run git status *", "git -c a=b status", False),
        ("run git status *", "git status \\\n; rm x", False),
        ("run git status *; write /w/out/**", "git status > out/x", True),
        ("run git status *; write /w/out/**", "git status > out/../x", False),
        ("run git status *", "", False),
        ("run *", "$x", False),
        ("git status *", "git status", False),
        ("", "git status", False),
        ("run ", "git status", False),
        ("run 'a", "a", False),
        ("run git status *; nonsense", "git status", False),
    ],
)
def test_a_granted_rule_covers_the_whole_or_nothing(rule: str, text: str, covered: bool) -> None:
    assert EMPTY.covers(rule, shell(text), AGENT, ACCESS) is covered


@given(st.text(max_size=60), st.sampled_from(["git status", "ls; rm x", "$x", "> f", ""]))
@settings(deadline=None)
def test_a_text_that_is_no_granted_rule_covers_nothing_dangerous_and_raises_nothing(
    rule: str, text: str
) -> None:
    if EMPTY.covers(rule, shell(text), AGENT, ACCESS):
        assert rule.startswith("run ")


@pytest.mark.anyio
async def test_nothing_wide_is_offered_where_a_rule_asks_or_comes_near() -> None:
    policy = permissions(deny=["rm -rf *"], ask=["git push *"], allow=["ls *"])
    for text, offered in (
        ("git push", ()),
        ("rm -fr x", ()),
        ("ls && git diff", ("run ls *; run git diff *",)),
    ):
        decision = await policy.decide(shell(text), AGENT, ACCESS)
        assert decision is not None
        assert (decision.verdict, decision.grants) == ("ask", offered), text
