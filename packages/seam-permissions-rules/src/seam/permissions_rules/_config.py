"""The rules, as a deployment writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from seam.permissions_rules._command_pattern import CommandPattern
from seam.permissions_rules._targets import HostPattern, PathPattern
from seam.tools_def import Verdict


def _several(given: object) -> object:
    return [given] if isinstance(given, str) else given


def _checked(make: Callable[[str], object]) -> AfterValidator:
    def check(text: str) -> str:
        make(text)
        return text

    return AfterValidator(check)


Names: TypeAlias = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_several)]
"""One name or a list of names; `*` and `?` stand for characters."""
Commands: TypeAlias = Annotated[
    tuple[Annotated[str, _checked(CommandPattern.parse)], ...], BeforeValidator(_several)
]
Paths: TypeAlias = Annotated[tuple[Annotated[str, _checked(PathPattern)], ...], BeforeValidator(_several)]
Hosts: TypeAlias = Annotated[tuple[Annotated[str, _checked(HostPattern)], ...], BeforeValidator(_several)]


class Rule(BaseModel):
    """One rule: a verdict on the calls it names.

    `tool`, `agent`, `principal` and `platform` say whose calls; left out, they mean any. `command`, `read`, `write`, `connect`
    and `widen` say which actions; where none is given, the rule is about every call as a whole, except that widening the
    sandbox is only allowed by name.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    verdict: Verdict
    """`deny` beats `ask` beats `allow`."""
    tool: Names = ()
    agent: Names = ()
    principal: Names = ()
    platform: Names = ()
    command: Commands = ()
    """Words of a command: `git status *`."""
    read: Paths = ()
    """Paths that are read: `docs/**`; relative ones start at the agent's workspace."""
    write: Paths = ()
    """Paths that are written."""
    connect: Hosts = ()
    """Network targets: `*.example.org:443`."""
    widen: Names = ()
    """Sandbox modes that a call may ask for: `workspace-write`."""
    reason: str = ""
    """What person and model are told."""

    @property
    def whole(self) -> bool:
        """Whether it is about calls as a whole."""
        return not (self.command or self.read or self.write or self.connect or self.widen)


class RulesConfig(BaseModel):
    """Every further table of the row is a rule; its name is the rule's name, so that a later layer can replace it by name."""

    model_config = ConfigDict(extra="allow", frozen=True)
    # pydantic reads the type of further keys from here
    __pydantic_extra__: dict[str, Rule] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]

    holds: Mapping[str, Names] = Field(default_factory=dict[str, tuple[str, ...]])
    """Who holds a permission that a tool declares: `deploy = ["ann", "agent:release"]`."""
    longest_command: int = Field(default=64 * 1024, ge=1, le=1024 * 1024)
    """Characters of shell text that are read; a longer one is not understood, and asked about."""

    @property
    def rules(self) -> Mapping[str, Rule]:
        """The rules by name, in the order of the file."""
        return self.__pydantic_extra__

    @model_validator(mode="after")
    def _whole_allow_names_something(self) -> RulesConfig:
        for name, rule in self.rules.items():
            if rule.verdict == "allow" and rule.whole and not rule.tool:
                raise ValueError(
                    f'rule {name!r} allows every call of every tool; name a tool (tool = "*" means it) or an action'
                )
        return self
