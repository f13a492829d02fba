"""One rule, ready to be compared with the parts of a call."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field

from seam.permissions_rules._command_pattern import CommandPattern, Match
from seam.permissions_rules._config import Rule
from seam.permissions_rules._parts import CommandPart, ConnectPart, Part, PathPart, UnknownPart, WidenPart
from seam.permissions_rules._targets import HostPattern, PathPattern
from seam.tools_def import Access, Agent


@dataclass(frozen=True)
class NamedRule:
    """A rule, ready to be compared."""

    name: str
    rule: Rule
    commands: tuple[CommandPattern, ...] = field(init=False)
    reads: tuple[PathPattern, ...] = field(init=False)
    writes: tuple[PathPattern, ...] = field(init=False)
    hosts: tuple[HostPattern, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "commands", tuple(map(CommandPattern.parse, self.rule.command)))
        object.__setattr__(self, "reads", tuple(map(PathPattern, self.rule.read)))
        object.__setattr__(self, "writes", tuple(map(PathPattern, self.rule.write)))
        object.__setattr__(self, "hosts", tuple(map(HostPattern, self.rule.connect)))

    @property
    def text(self) -> str:
        """As it is written, with its name."""
        rule = self.rule
        conditions = [
            f"{word} {', '.join(repr(item) for item in items)}"
            for word, items in (
                ("tool", rule.tool), ("agent", rule.agent), ("principal", rule.principal), ("platform", rule.platform),
                ("command", rule.command), ("read", rule.read), ("write", rule.write), ("connect", rule.connect),
                ("widen", rule.widen),
            )
            if items
        ]  # fmt: skip
        return f"{self.name}: {rule.verdict} {'; '.join(conditions) or 'every call'}"

    def applies(self, tool: str, agent: Agent, access: Access) -> str | None:
        """None where it is about this call, else what is different."""
        for word, names, value in (
            ("tool", self.rule.tool, tool),
            ("agent", self.rule.agent, agent.name),
            ("principal", self.rule.principal, access.principal),
            ("platform", self.rule.platform, access.platform),
        ):
            if names and not any(fnmatch.fnmatchcase(value, name) for name in names):
                return f"is about another {word}"
        return None

    def touches(self, part: Part, workspace: str) -> Match:
        """Whether a deny or an ask speaks of a part."""
        if self.rule.whole:
            return Match.YES
        match part:
            case CommandPart():
                if part.tail:
                    return Match.MAYBE if self._hidden_in(part) else Match.NO
                found = max((pattern.touches(part.words) for pattern in self.commands), default=Match.NO)
                return min(found, Match.MAYBE) if part.possible else found
            case PathPart():
                patterns = self.reads if part.kind == "read" else self.writes
                return max((pattern.match(part.path, workspace) for pattern in patterns), default=Match.NO)
            case ConnectPart():
                return max((pattern.match(part.host, part.port) for pattern in self.hosts), default=Match.NO)
            case WidenPart():
                return Match.YES if self._widens(part) else Match.NO
            case UnknownPart():
                return Match.NO

    def _hidden_in(self, part: CommandPart) -> bool:
        return any(
            (part.loose if word.text is None else pattern.starts_with(word))
            and pattern.touches(part.words[place:]) is not Match.NO
            for pattern in self.commands
            for place, word in enumerate(part.words)
        )

    def covers(self, part: Part, workspace: str) -> bool:
        """Whether an allow covers a part for sure."""
        if isinstance(part, WidenPart):
            return self._widens(part)
        if self.rule.whole:
            return True
        match part:
            case CommandPart():
                return any(_covers_command(pattern, part) for pattern in self.commands)
            case UnknownPart(command=CommandPart() as command):
                return any(
                    _spelled_out(pattern) and pattern.covers(command.words) for pattern in self.commands
                )
            case PathPart() | ConnectPart():
                return self.touches(part, workspace) is Match.YES
            case UnknownPart():
                return False

    def _widens(self, part: WidenPart) -> bool:
        return any(fnmatch.fnmatchcase(part.mode, mode) for mode in self.rule.widen)


def _spelled_out(pattern: CommandPattern) -> bool:
    return not any(character in word for word in pattern.words for character in "*?[")


def _covers_command(pattern: CommandPattern, part: CommandPart) -> bool:
    if pattern.covers(part.words):
        return True
    outer, program = part.outer, part.words[0].text
    # `sudo apt *` is about apt under sudo, since it spells apt out; `sudo *` is about sudo alone
    return (
        outer is not None
        and part.offset is not None
        and program is not None
        and pattern.spells(part.offset, program)
        and pattern.covers(outer.words)
    )


def named(rules: Mapping[str, Rule]) -> tuple[NamedRule, ...]:
    """The rules of a configuration, ready."""
    return tuple(NamedRule(name, rule) for name, rule in rules.items())
