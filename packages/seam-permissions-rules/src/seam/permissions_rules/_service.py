"""Permissions by rules."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from pydantic import JsonValue

from seam.permissions_rules._call_parts import InvalidAction, parts_of
from seam.permissions_rules._config import RulesConfig
from seam.permissions_rules._judge import Judgement
from seam.permissions_rules._named_rule import named
from seam.permissions_rules._offers import covers, granted, offers
from seam.permissions_rules._parts import Part
from seam.permissions_rules._shell import ShellReader
from seam.tools_def import Access, Agent, Decision, Permissions, ResolvedCall


class RulesPermissions(Permissions):
    """Decides by the text of a resolved call alone: it reads no file and asks no program, so its answer cannot become stale."""

    def __init__(self, config: RulesConfig) -> None:
        self._config = config
        self._rules = named(config.rules)
        self._reader = ShellReader(config.longest_command)

    def holds(self, permission: str, agent: Agent, access: Access) -> bool:
        return any(
            fnmatch.fnmatchcase(
                f"agent:{agent.name}" if holder.startswith("agent:") else access.principal, holder
            )
            for holder in self._config.holds.get(permission, ())
        )

    async def decide(self, resolved: ResolvedCall, agent: Agent, access: Access) -> Decision | None:
        try:
            parts = self._parts(resolved, agent)
        except InvalidAction as invalid:
            return Decision(verdict="deny", reason=str(invalid))
        decision = Judgement(self._rules, resolved, agent, access, parts).decision()
        if decision is None or decision.verdict != "ask" or decision.rule:
            return decision
        # nothing was found against it, only nothing for it: a person may widen that for the session
        return decision.model_copy(update={"grants": offers(parts)})

    def offers(self, resolved: ResolvedCall, agent: Agent, access: Access) -> tuple[str, ...]:
        try:
            return offers(self._parts(resolved, agent))
        except InvalidAction:
            return ()

    def covers(self, rule: str, resolved: ResolvedCall, agent: Agent, access: Access) -> bool:
        shown = granted(rule)
        if shown is None:
            return False
        try:
            return covers(shown, self._parts(resolved, agent), agent.workspace)
        except InvalidAction:
            return False

    async def explain(self, resolved: ResolvedCall, agent: Agent, access: Access) -> JsonValue:
        try:
            parts = self._parts(resolved, agent)
        except InvalidAction as invalid:
            return {"verdict": "deny", "rule": "", "reason": str(invalid), "parts": [], "rules": []}
        return Judgement(self._rules, resolved, agent, access, parts).explanation()

    def _parts(self, resolved: ResolvedCall, agent: Agent) -> Sequence[Part]:
        return parts_of(resolved, agent.workspace, self._reader)
