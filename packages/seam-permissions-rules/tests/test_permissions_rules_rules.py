"""Rules: whose calls, which actions, which verdict; and how a bad one is told."""

from __future__ import annotations

from typing import cast

import pytest
from permissions_rules_calls import ACCESS, AGENT, call, shell, verdict
from pydantic import BaseModel, JsonValue

from seam.kernel import InvalidConfig, Kernel
from seam.permissions_rules import RulesConfig, RulesPermissions, rules
from seam.tools_def import Access, Action, Agent, Connect, Permissions, Read, Run, Widen, Write

pytestmark = pytest.mark.anyio


class Explained(BaseModel):
    """The answer of `explain`."""

    verdict: str
    rule: str
    reason: str
    parts: list[dict[str, JsonValue]]
    rules: list[dict[str, JsonValue]]


def policy(**config: object) -> RulesPermissions:
    return RulesPermissions(RulesConfig.model_validate(config))


async def test_deny_beats_ask_beats_allow_in_any_order() -> None:
    some = {
        "a": {"verdict": "allow", "tool": "x"},
        "b": {"verdict": "ask", "tool": "x"},
        "c": {"verdict": "deny", "tool": "x"},
    }
    assert await verdict(policy(**some), call(tool="x")) == "deny"
    assert await verdict(policy(**dict(reversed(some.items()))), call(tool="x")) == "deny"
    assert await verdict(policy(a=some["a"], b=some["b"]), call(tool="x")) == "ask"
    assert await verdict(policy(a=some["a"]), call(tool="x")) == "allow"
    assert await verdict(policy(**some), call(tool="y")) == "silent"


@pytest.mark.parametrize(
    ("condition", "agent", "access", "expected"),
    [
        ({"tool": "read_*"}, "default", "ann", "silent"),
        ({"tool": "web_*"}, "default", "ann", "deny"),
        ({"tool": ["a", "web_search"]}, "default", "ann", "deny"),
        ({"agent": "reviewer"}, "default", "ann", "silent"),
        ({"agent": "reviewer"}, "reviewer", "ann", "deny"),
        ({"principal": "a*"}, "default", "ann", "deny"),
        ({"principal": "bob"}, "default", "ann", "silent"),
        ({"platform": "cli"}, "default", "ann", "deny"),
        ({"platform": "mcp"}, "default", "ann", "silent"),
        ({"tool": "web_*", "agent": "reviewer"}, "default", "ann", "silent"),
        ({}, "default", "ann", "deny"),
    ],
)
async def test_a_rule_is_about_the_calls_that_it_names(
    condition: dict[str, object], agent: str, access: str, expected: str
) -> None:
    found = await verdict(
        policy(rule={"verdict": "deny", **condition}),
        call(tool="web_search"),
        Agent(name=agent, workspace="/w"),
        Access(principal=access, platform="cli"),
    )
    assert found == expected


@pytest.mark.parametrize(
    ("condition", "action", "expected"),
    [
        ({"write": "docs/**"}, Write(path="/w/docs/a/b.md"), "allow"),
        ({"write": "docs/**"}, Write(path="docs/a.md"), "allow"),
        ({"write": "docs/**"}, Write(path="/w/docs/../secret"), "silent"),
        ({"write": "docs/**"}, Write(path="/docs/a"), "silent"),
        ({"write": "docs/**"}, Read(path="/w/docs/a"), "silent"),
        ({"write": "docs/*"}, Write(path="/w/docs/a/b"), "silent"),
        ({"read": "/etc/*.conf"}, Read(path="/etc/a.conf"), "allow"),
        ({"read": "/etc/*.conf"}, Read(path="/etc/a/b.conf"), "silent"),
        ({"read": "/**/x"}, Read(path="/a/b/x"), "allow"),
        ({"read": "/**/x"}, Read(path="/x"), "allow"),
        ({"read": "/w/[a]"}, Read(path="/w/[a]"), "allow"),
        ({"connect": "*.example.org:443"}, Connect(host="API.example.org.", port=443), "allow"),
        ({"connect": "*.example.org:443"}, Connect(host="api.example.org", port=80), "silent"),
        ({"connect": "*.example.org:443"}, Connect(host="api.example.org"), "silent"),
        ({"connect": "*.example.org"}, Connect(host="example.org.evil.net", port=443), "silent"),
        ({"connect": "[::1]:80"}, Connect(host="::1", port=80), "allow"),
        ({"widen": "workspace-write"}, Widen(mode="workspace-write", why="w"), "allow"),
        ({"widen": "workspace-write"}, Widen(mode="full-access", why="w"), "silent"),
        ({"tool": "shell"}, Widen(mode="full-access", why="w"), "ask"),
        ({"tool": "*"}, Run(dialect="bash", text="anything $at all", workdir="/w"), "allow"),
        ({"command": "git *"}, Run(dialect="argv", text="", argv=("git", "a; rm x"), workdir="/w"), "allow"),
        ({"command": "git *"}, Run(dialect="argv", text="", argv=("bash", "-c", "rm x"), workdir="/w"), "silent"),
        ({"command": "bash *"}, Run(dialect="argv", text="", argv=("bash", "-c", "rm x"), workdir="/w"), "silent"),
        ({"command": "git *"}, Run(dialect="zsh", text="git status", workdir="/w"), "ask"),
        ({"command": "git *"}, Run(dialect="fish", text="git status", workdir="/w"), "ask"),
        ({"command": "git *"}, Run(dialect="sh", text="git status", workdir="/w"), "allow"),
    ],
)  # fmt: skip
async def test_an_allow_covers_its_actions_and_no_others(
    condition: dict[str, object], action: Action, expected: str
) -> None:
    found = await verdict(policy(rule={"verdict": "allow", **condition}), call(action))
    assert found == expected


async def test_an_allow_needs_every_action_of_a_call() -> None:
    some = policy(a={"verdict": "allow", "read": "/w/**"}, b={"verdict": "allow", "connect": "example.org"})
    assert await verdict(some, call(Read(path="/w/a"), Connect(host="example.org"))) == "allow"
    assert await verdict(some, call(Read(path="/w/a"), Write(path="/w/a"))) == "ask"
    decision = await some.decide(call(Read(path="/w/a"), Write(path="/w/a")), AGENT, ACCESS)
    assert decision is not None
    assert decision.reason == "no rule allows `write /w/a`"
    assert await verdict(some, call()) == "silent", "an allow of actions is none for a call that names none"


@pytest.mark.parametrize(
    ("condition", "text", "expected"),
    [
        ({"write": "/etc/**"}, "echo a > /etc/x", "deny"),
        ({"write": "/etc/**"}, "echo a > $x", "ask"),
        ({"write": "/etc/**"}, "cd / && echo a > etc/x", "ask"),
        ({"write": "/w/secret"}, "echo a > ../w/./secret", "deny"),
        ({"read": "/etc/shadow"}, "cat < /etc/shadow", "deny"),
        ({"connect": "10.*"}, "cat < /dev/tcp/10.0.0.1/80", "deny"),
        ({"command": "git push *"}, "git -C /x push", "ask"),
        ({"command": "git push *"}, "git $x", "ask"),
        ({"command": "git push *"}, "git status", "allow"),
        ({"command": "git push --force *"}, "git push origin", "allow"),
        ({"command": "git push --force *"}, "git push -f origin", "ask"),
    ],
)
async def test_a_deny_meets_redirects_and_what_comes_near(
    condition: dict[str, object], text: str, expected: str
) -> None:
    some = policy(
        no={"verdict": "deny", **condition},
        yes={"verdict": "allow", "command": ["echo *", "cat *", "git *", "cd *"], "write": "**"},
    )
    assert await verdict(some, shell(text)) == expected


async def test_a_pattern_that_spells_a_wrapper_out_means_what_it_runs() -> None:
    some = policy(a={"verdict": "allow", "command": ["sudo apt *", "bash tools/check.sh", "time *"]})
    assert await verdict(some, shell("sudo apt update")) == "allow"
    assert await verdict(some, shell("sudo rm x")) != "allow"
    assert await verdict(some, shell("bash tools/check.sh")) == "allow"
    assert await verdict(some, shell("bash tools/other.sh")) != "allow"
    assert await verdict(some, shell("echo rm | bash")) != "allow"
    assert await verdict(some, shell("time rm x")) != "allow", (
        "a wrapper's wildcard is not about what it runs"
    )


async def test_who_holds_a_permission() -> None:
    some = policy(holds={"deploy": ["ann", "agent:release"], "look": "*"})
    assert some.holds("deploy", AGENT, ACCESS)
    assert some.holds(
        "deploy", Agent(name="release", workspace="/w"), Access(principal="bob", platform="cli")
    )
    assert not some.holds("deploy", AGENT, Access(principal="bob", platform="cli"))
    assert some.holds("look", AGENT, Access(principal="bob", platform="cli"))
    assert not some.holds("unheard-of", AGENT, ACCESS)


@pytest.mark.parametrize(
    ("config", "place", "words"),
    [
        ({"no-rm": {"verdict": "denied"}}, "no-rm.verdict", "'allow', 'deny' or 'ask'"),
        ({"no-rm": {"command": "rm *"}}, "no-rm.verdict", "required"),
        ({"no-rm": {"verdict": "deny", "comand": "rm *"}}, "no-rm.comand", "not permitted"),
        (
            {"no-rm": {"verdict": "deny", "command": ["rm *", "a; b"]}},
            "no-rm.command.1",
            "more than one command",
        ),
        (
            {"no-rm": {"verdict": "deny", "command": "echo 'a"}},
            "no-rm.command.0",
            "cannot be split into words",
        ),
        ({"no-rm": {"verdict": "deny", "command": " "}}, "no-rm.command.0", "at least one word"),
        ({"no-rm": {"verdict": "deny", "write": "~/x"}}, "no-rm.write.0", "means nothing in another world"),
        ({"no-rm": {"verdict": "deny", "connect": "http://x"}}, "no-rm.connect.0", "is not a host"),
        ({"holds": {"deploy": 3}}, "holds.deploy", "valid"),
        ({"longest_command": 0}, "longest_command", "greater than or equal to 1"),
        ({"typo": "deny"}, "typo", "valid"),
        ({"all": {"verdict": "allow"}}, "(whole)", "allows every call of every tool"),
    ],
)
async def test_a_bad_rule_is_told_with_its_place(config: dict[str, object], place: str, words: str) -> None:
    with pytest.raises(InvalidConfig) as raised:
        rules.configure(config)
    problems = cast("list[tuple[str, str]]", raised.value.facts["problems"])
    assert any(location == place and words in text for location, text in problems), problems


async def test_explain_gives_every_rule_and_part() -> None:
    some = policy(
        look={"verdict": "allow", "command": "git *"},
        no={"verdict": "deny", "command": "rm *", "reason": "use the trash"},
        other={"verdict": "ask", "agent": "reviewer"},
    )
    explained = Explained.model_validate(
        await some.explain(shell("git status && env rm x > /w/log"), AGENT, ACCESS)
    )
    assert explained.verdict == "deny"
    assert explained.rule == "no: deny command 'rm *'"
    assert explained.reason == "`rm x` is denied by rule no: use the trash"
    allowed_by = {part["text"]: part["allowed_by"] for part in explained.parts if "only_possible" not in part}
    assert allowed_by["git status"] == "look"
    assert allowed_by["write /w/log"] is None
    looked = {str(rule["rule"]).split(":")[0]: rule for rule in explained.rules}
    assert looked["other"] == {
        "rule": "other: ask agent 'reviewer'",
        "looked_at": False,
        "why_not": "is about another agent",
    }
    assert looked["no"]["matches"] == {"rm x": "yes"}
    assert looked["look"]["matches"] == {"git status": "yes"}


async def test_the_plugin_provides_it_and_a_bad_row_is_refused() -> None:
    async with Kernel() as kernel:
        kernel.root.load(rules, {"no": {"verdict": "deny", "tool": "x"}})
        await kernel.root.settle()
        (facts,) = kernel.root.describe().services
        assert facts.key == Permissions.service_key
