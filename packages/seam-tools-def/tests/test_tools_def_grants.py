"""The book of grants: what a person's yes covers, and what ends it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from seam.tools_def import (
    Access,
    Agent,
    Decision,
    Grant,
    GrantBook,
    Owner,
    Permissions,
    ResolvedCall,
    effects,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
OWNER = Owner(agent="default", session="s1")
AGENT = Agent(name="default", workspace="/ws")
ANN = Access(principal="ann", platform="cli")


class Clock:
    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time


class PrefixRules(Permissions):
    """A rule covers the calls whose summary starts with it."""

    def holds(self, permission: str, agent: Agent, access: Access) -> bool:
        return False

    async def decide(self, resolved: ResolvedCall, agent: Agent, access: Access) -> Decision | None:
        return None

    def covers(self, rule: str, resolved: ResolvedCall, agent: Agent, access: Access) -> bool:
        return resolved.summary.startswith(rule)

    async def explain(self, resolved: ResolvedCall, agent: Agent, access: Access) -> JsonValue:
        return None


def call(summary: str = "git status", *, descriptor: str = "sha256:d") -> ResolvedCall:
    return ResolvedCall(
        tool="shell",
        descriptor=descriptor,
        arguments={"command": summary},
        effects=effects("executes"),
        deadline=1,
        summary=summary,
    )


def grant(
    name: str = "g1", *, rule: str | None = None, turn: str | None = None, expires: datetime | None = None
) -> Grant:
    return Grant(
        id=name,
        owner=OWNER,
        principal="ann",
        tool="shell",
        descriptor="sha256:d",
        digest=None if rule else call().digest,
        rule=rule,
        reach="turn" if turn else "session",
        turn=turn,
        expires=expires,
        given_by="ann",
        given_at=START,
    )


def find(
    book: GrantBook,
    resolved: ResolvedCall | None = None,
    *,
    turn: str = "t1",
    owner: Owner = OWNER,
    access: Access = ANN,
    rules: Permissions | None = None,
) -> str | None:
    found = book.find(resolved or call(), turn, owner, AGENT, access, rules)
    return found.id if found else None


def test_t_33_a_session_grant_holds_for_the_same_session_and_principal_only() -> None:
    book = GrantBook()
    book.add(grant())
    assert find(book) == "g1"
    assert find(book, turn="t2") == "g1"
    assert find(book, owner=Owner(agent="default", session="s2")) is None
    assert find(book, owner=Owner(agent="other", session="s1")) is None
    assert find(book, access=Access(principal="bob", platform="cli")) is None


def test_t_33_a_digest_grant_covers_that_digest_only() -> None:
    book = GrantBook()
    book.add(grant())
    assert find(book, call("git push")) is None


def test_t_33_a_rule_grant_covers_what_permissions_say_and_nothing_without_them() -> None:
    book = GrantBook()
    book.add(grant(rule="git "))
    assert find(book, call("git push"), rules=PrefixRules()) == "g1"
    assert find(book, call("rm -rf /"), rules=PrefixRules()) is None
    assert find(book, call("git push"), rules=None) is None


def test_t_33_a_grant_is_void_when_the_descriptor_changes() -> None:
    book = GrantBook()
    book.add(grant(rule="git "))
    assert find(book, call(descriptor="sha256:other"), rules=PrefixRules()) is None


def test_t_33_a_turn_grant_ends_with_its_turn() -> None:
    book = GrantBook()
    book.add(grant(turn="t1"))
    assert find(book, turn="t2") is None
    assert find(book, turn="t1") == "g1"
    book.end_turn("t1")
    assert find(book, turn="t1") is None


def test_t_33_grants_expire_are_listed_and_revoked() -> None:
    clock = Clock()
    book = GrantBook(clock)
    book.add(grant("short", expires=START + timedelta(seconds=10)))
    book.add(grant("long"))
    assert [item.id for item in book.list()] == ["short", "long"]
    assert book.list(Owner(agent="default", session="other")) == ()
    clock.time = START + timedelta(seconds=10)
    assert [item.id for item in book.list(OWNER)] == ["long"]
    assert find(book) == "long"
    assert book.revoke("long") is True
    assert book.revoke("long") is False
    assert find(book) is None


def test_t_33_a_session_takes_its_grants_with_it() -> None:
    book = GrantBook()
    book.add(grant())
    book.end_session(OWNER)
    assert list(book.list()) == []
    book.end_session(OWNER)
