"""Calls that the tests ask about."""

from __future__ import annotations

from seam.permissions_rules import Rule, RulesConfig, RulesPermissions
from seam.tools_def import Access, Action, Agent, ResolvedCall, Run, effects

AGENT = Agent(name="default", workspace="/w")
ACCESS = Access(principal="ann", platform="cli")


def call(*actions: Action, tool: str = "shell") -> ResolvedCall:
    """A resolved call with these actions."""
    return ResolvedCall(
        tool=tool,
        descriptor="sha256:d",
        arguments={},
        effects=effects("executes", "writes", "network", "reads"),
        actions=actions,
        deadline=60,
        summary="a call",
    )


def shell(text: str, dialect: str = "bash", workdir: str = "/w") -> ResolvedCall:
    """A call of the shell."""
    return call(Run(dialect=dialect, text=text, argv=("/bin/bash", "-c", text), workdir=workdir))


def permissions(
    *, allow: list[str] | None = None, deny: list[str] | None = None, ask: list[str] | None = None
) -> RulesPermissions:
    """A policy over commands."""
    rules: dict[str, Rule] = {}
    for verdict, commands in (("allow", allow), ("deny", deny), ("ask", ask)):
        if commands:
            rules[verdict] = Rule.model_validate({"verdict": verdict, "command": commands})
    return RulesPermissions(RulesConfig.model_validate(rules))


async def verdict(
    policy: RulesPermissions, resolved: ResolvedCall, agent: Agent = AGENT, access: Access = ACCESS
) -> str:
    """What the policy says: `allow`, `ask`, `deny`, or `silent` where no rule speaks."""
    decision = await policy.decide(resolved, agent, access)
    return "silent" if decision is None else decision.verdict
