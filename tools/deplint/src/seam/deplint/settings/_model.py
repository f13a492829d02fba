"""The configuration: roles, the matrix between them, and what the rules may assume."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from fnmatch import fnmatchcase


class Severity(IntEnum):
    """How much a finding matters; only what reaches `fail_on` makes the run fail."""

    OFF = 0
    ADVICE = 1
    WARNING = 2
    ERROR = 3


@dataclass(frozen=True, slots=True)
class Role:
    """One role. A distribution has it by an entry-point group, by its name or by its folder.

    In `groups`, `*` at the end stands for the key. `key_from` says where the key of an entry point is: its `name`, the
    `group`'s last part, or `` (none). `may_require` lists roles (`*` for every distribution), `may_extend` roles whose
    distributions may be required when they share a key and are named under `extends`. A folded distribution that has a
    `face` role may be required wherever that role may. `suffixes` are the endings of the role's distribution
    names. `configured` roles were written by the user, so that one which nobody has is a fault.
    """

    name: str
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    key_from: str = ""
    may_require: tuple[str, ...] = ()
    may_extend: tuple[str, ...] = ()
    face: bool = False
    owns_key: bool = False
    suffixes: tuple[str, ...] = ()
    color: str = ""
    configured: bool = False

    def matches_name(self, name: str) -> bool:
        """Whether the role is given by the distribution's name."""
        return any(fnmatchcase(name, pattern) for pattern in self.names)

    def matches_path(self, root: str) -> bool:
        """Whether the role is given by the folder."""
        return any(fnmatchcase(root, pattern) for pattern in self.paths)

    def matches_group(self, group: str) -> bool:
        """Whether the role is given by an entry point in `group`."""
        return any(fnmatchcase(group, pattern) for pattern in self.groups)


@dataclass(frozen=True, slots=True)
class Ignore:
    """Findings that somebody decided to live with. Empty fields match everything; the reason is never empty."""

    rule: str
    reason: str
    distribution: str = ""
    subject: str = ""
    path: str = ""
    location: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run is configured with.

    `present_extras` are extras whose requirements are there whenever the distribution is of use (what an instrumentation
    instruments): importing them at module level is no undeclared import.
    """

    preset: str = ""
    members: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    family: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    group_prefix: str = ""
    roles: tuple[Role, ...] = ()
    leaf: bool = False
    specifiers: str = "satisfiable"
    present_extras: tuple[str, ...] = ()
    trains: tuple[tuple[str, ...], ...] = ()
    fail_on: Severity = Severity.ERROR
    severity: dict[str, Severity] = field(default_factory=dict[str, Severity])
    modules: dict[str, str] = field(default_factory=dict[str, str])
    ignores: tuple[Ignore, ...] = ()
    baseline: str = ""
    path: str = "pyproject.toml"

    @property
    def roots(self) -> frozenset[str]:
        """Top-level names of the namespaces."""
        return frozenset(name.partition(".")[0] for name in self.namespaces)

    def is_family(self, name: str) -> bool:
        """Whether a distribution name is one of ours."""
        return any(fnmatchcase(name, pattern) for pattern in self.family)

    def role(self, name: str) -> Role | None:
        """A role by its name."""
        return next((role for role in self.roles if role.name == name), None)

    def with_roles(self, roles: tuple[Role, ...]) -> Settings:
        """The same settings with other roles."""
        return replace(self, roles=roles)
