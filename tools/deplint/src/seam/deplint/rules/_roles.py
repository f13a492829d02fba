"""Which roles a distribution has, and what the matrix says about an edge between two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seam.deplint.facts import Distribution
from seam.deplint.settings import Role, Settings

_NO_KEYS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Assigned:
    """The roles of one distribution, and for each role the keys that its entry points name."""

    roles: tuple[Role, ...] = ()
    keys: Mapping[str, frozenset[str]] | None = None

    def all_keys(self) -> frozenset[str]:
        """Every key of every role."""
        return _NO_KEYS.union(*(self.keys or {}).values())

    def keys_of(self, role: str) -> frozenset[str]:
        """The keys of one role."""
        return (self.keys or {}).get(role, frozenset())

    def owned_keys(self) -> frozenset[str]:
        """Keys that the distribution defines."""
        return _NO_KEYS.union(*(self.keys_of(role.name) for role in self.roles if role.owns_key))

    def provided_keys(self) -> frozenset[str]:
        """Keys that the distribution implements."""
        found = (self.keys_of(role.name) for role in self.roles if role.key_from and not role.owns_key)
        return _NO_KEYS.union(*found)

    def label(self) -> str:
        """The roles for people: `consumer`, or `definition and consumer`."""
        return " and ".join(role.name for role in self.roles) or "no role"


def assign(item: Distribution, settings: Settings, home: str = "") -> Assigned:
    """Roles by folder (exclusive), else by name (the first that matches) and by entry-point groups.

    `home` is the folder in the source tree of a distribution that was read from a wheel or an environment.
    """
    folder = home or (item.root if item.is_source else "")
    for role in settings.roles:
        if folder and role.matches_path(folder):
            return Assigned((role,), {})
    named = next((role for role in settings.roles if role.matches_name(item.name)), None)
    roles = [named] if named else []
    keys: dict[str, set[str]] = {}
    for role in settings.roles:
        points = [point for point in item.entry_points if role.matches_group(point.group)]
        if not points:
            continue
        if role not in roles:
            roles.append(role)
        if role.key_from:
            found = {
                point.name if role.key_from == "name" else point.group.rpartition(".")[2] for point in points
            }
            keys.setdefault(role.name, set()).update(found)
    return Assigned(tuple(roles), {name: frozenset(found) for name, found in keys.items()})


def infer(name: str, settings: Settings) -> Assigned:
    """The role that a name alone tells, for a distribution that is not at hand."""
    for role in settings.roles:
        if role.matches_name(name) or (settings.is_family(name) and name.endswith(role.suffixes or ("\0",))):
            return Assigned((role,), {})
    return Assigned()


def permitted(
    source: Distribution, ours: Assigned, target: str, theirs: Assigned, *, direct: bool = True
) -> bool:
    """Whether the matrix lets `source` depend on `target`: every role of the source must allow it."""
    faces = tuple(role for role in theirs.roles if role.face)
    seen_as = faces if faces and len(theirs.roles) > 1 else theirs.roles
    shared = bool(ours.all_keys() & theirs.all_keys())
    for role in ours.roles:
        for other in seen_as:
            if "*" in role.may_require or other.name in role.may_require:
                continue
            declared = target in source.extends or not direct
            if other.name in role.may_extend and shared and declared:
                continue
            return False
    return True
