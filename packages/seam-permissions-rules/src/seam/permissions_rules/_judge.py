"""Rules against the parts of a call: deny beats ask beats allow, and an allow needs every part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from seam.permissions_rules._command_pattern import Match
from seam.permissions_rules._named_rule import NamedRule
from seam.permissions_rules._parts import CommandPart, Part, UnknownPart
from seam.permissions_rules._wrappers import SILENT
from seam.tools_def import Access, Agent, Decision, ResolvedCall

NOTHING = SILENT - {"echo", "printf"}
"""Commands that do nothing, and need no rule."""


@dataclass
class Judgement:
    """What the rules say of one call, and what was looked at."""

    rules: Sequence[NamedRule]
    resolved: ResolvedCall
    agent: Agent
    access: Access
    parts: Sequence[Part]

    def __post_init__(self) -> None:
        self.left_out = {
            rule.name: why
            for rule in self.rules
            if (why := rule.applies(self.resolved.tool, self.agent, self.access)) is not None
        }
        self._speaking = [rule for rule in self.rules if rule.name not in self.left_out]

    def decision(self) -> Decision | None:
        """The verdict, or None where no rule speaks."""
        return self._denied() or self._asked() or self._allowed()

    def _denied(self) -> Decision | None:
        for rule, _, text in self._touching("deny", Match.YES):
            return Decision(verdict="deny", rule=rule.text, reason=_because(f"{text} is denied", rule))
        return None

    def _asked(self) -> Decision | None:
        for rule, _, text in self._touching("ask", Match.YES):
            return Decision(
                verdict="ask", rule=rule.text, reason=_because(f"{text} is to be asked about", rule)
            )
        for verdict in ("deny", "ask"):
            for rule, part, text in self._touching(verdict, Match.MAYBE):
                why = (
                    "may run as part of it"
                    if isinstance(part, CommandPart) and part.possible
                    else "comes near"
                )
                return Decision(
                    verdict="ask",
                    rule=rule.text,
                    reason=f"{text} {why}: rule {rule.name}; whether it matches is not sure",
                )
        return None

    def _touching(self, verdict: str, at_least: Match) -> list[tuple[NamedRule, Part | None, str]]:
        found: list[tuple[NamedRule, Part | None, str]] = []
        workspace = self.agent.workspace
        for rule in self._speaking:
            if rule.rule.verdict != verdict:
                continue
            if rule.rule.whole:
                found.append((rule, None, f"every call of {self.resolved.tool}"))
                continue
            found += [
                (rule, part, f"`{part.text}`")
                for part in self.parts
                if rule.touches(part, workspace) >= at_least
            ]
        return found

    def covering(self, part: Part) -> NamedRule | None:
        """The first rule that allows a part."""
        for rule in self._speaking:
            if rule.rule.verdict == "allow" and rule.covers(part, self.agent.workspace):
                return rule
        return None

    def _allowed(self) -> Decision | None:
        whole = [rule for rule in self._speaking if rule.rule.verdict == "allow" and rule.rule.whole]
        used: dict[str, NamedRule] = {rule.name: rule for rule in whole[:1]}
        missing: list[Part] = []
        for part in self.parts:
            if not part.needed or does_nothing(part):
                continue
            rule = self.covering(part)
            if rule is None:
                missing.append(part)
            else:
                used[rule.name] = rule
        if missing and (used or any(isinstance(part, UnknownPart) for part in missing)):
            return Decision(verdict="ask", reason=_missing(missing))
        if missing or not used:
            return None
        names = "; ".join(rule.text for rule in used.values())
        return Decision(verdict="allow", rule=names, reason="every part of it is allowed")

    def explanation(self) -> JsonValue:
        """Everything that was looked at."""
        decision = self.decision()
        return {
            "verdict": decision.verdict if decision else None,
            "rule": decision.rule if decision else "",
            "reason": decision.reason
            if decision
            else "no rule speaks of it; the tool's own need for approval decides",
            "parts": [self._explained(part) for part in self.parts],
            "rules": [self._looked_at(rule) for rule in self.rules],
        }

    def _explained(self, part: Part) -> JsonValue:
        rule = self.covering(part)
        facts: dict[str, JsonValue] = {
            "kind": type(part).__name__.removesuffix("Part").lower(),
            "text": part.text,
            "needs_an_allow": part.needed and not does_nothing(part),
            "allowed_by": rule.name if rule else None,
        }
        if isinstance(part, UnknownPart):
            facts["why"] = part.why
        if isinstance(part, CommandPart) and part.possible:
            facts["only_possible"] = True
        return facts

    def _looked_at(self, rule: NamedRule) -> JsonValue:
        why = self.left_out.get(rule.name)
        if why is not None:
            return {"rule": rule.text, "looked_at": False, "why_not": why}
        matches: dict[str, Match] = {}
        for part in self.parts:
            if rule.rule.verdict == "allow":
                found = Match.YES if rule.covers(part, self.agent.workspace) else Match.NO
            else:
                found = rule.touches(part, self.agent.workspace)
            if found is not Match.NO:
                matches[part.text] = max(found, matches.get(part.text, found))
        said: dict[str, JsonValue] = {text: match.name.lower() for text, match in matches.items()}
        return {"rule": rule.text, "looked_at": True, "every_call": rule.rule.whole, "matches": said}


def does_nothing(part: Part) -> bool:
    """Whether it is a command without an effect."""
    return isinstance(part, CommandPart) and part.words[0].text in NOTHING


def _because(sentence: str, rule: NamedRule) -> str:
    return f"{sentence} by rule {rule.name}" + (f": {rule.rule.reason}" if rule.rule.reason else "")


def _missing(parts: Sequence[Part]) -> str:
    unknown = [part for part in parts if isinstance(part, UnknownPart)]
    if unknown:
        return f"`{unknown[0].text}` cannot be understood: {unknown[0].why}"
    named = ", ".join(f"`{part.text}`" for part in parts[:3]) + (
        f" and {len(parts) - 3} more" if len(parts) > 3 else ""
    )
    return f"no rule allows {named}"
