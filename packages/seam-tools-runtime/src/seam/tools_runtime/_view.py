"""Who sees what: the same fields with the same meaning for every source."""

from __future__ import annotations

from dataclasses import dataclass

from seam.tools_def import (
    Access,
    Agent,
    Descriptor,
    Permissions,
    SkillEntry,
    TurnOpening,
    Visibility,
)
from seam.tools_runtime._catalogue import Table


@dataclass(frozen=True)
class View:
    """What a turn's caller is shown."""

    tools: tuple[Descriptor, ...]
    skills: tuple[SkillEntry, ...]


def view_of(table: Table, opening: TurnOpening) -> View:
    """The part of a table that is in view. A permission that cannot be asked for is not held."""

    def seen(visibility: Visibility) -> bool:
        if visibility == _EVERYBODY:
            return True
        if visibility.hidden or out_of_view(visibility, opening.access):
            return False
        try:
            return lacks(visibility, opening) is None
        except Exception:  # a policy that raises permits nothing; the call itself is told why
            return False

    return View(
        tuple(descriptor for descriptor in table.descriptors if seen(descriptor.visibility)),
        tuple(entry for entry in table.entries if seen(entry.visibility)),
    )


_EVERYBODY = Visibility()


def out_of_view(visibility: Visibility, access: Access) -> bool:
    """Whether the door or the company is not one that it is meant for."""
    return bool(
        (visibility.platforms and access.platform not in visibility.platforms)
        or (visibility.scopes and access.scope not in visibility.scopes)
    )


def lacks(visibility: Visibility, opening: TurnOpening) -> str | None:
    """Why the principal may not, or None. Raises what the permissions service raises."""
    if not visibility.permissions:
        return None
    if opening.permissions is None:
        return "it needs permissions, and this deployment has no `permissions` service to say who holds them"
    missing = [
        name
        for name in sorted(visibility.permissions)
        if not _holds(opening.permissions, name, opening.agent, opening.access)
    ]
    if missing:
        return f"{opening.access.principal!r} does not hold {', '.join(missing)}"
    return None


def _holds(permissions: Permissions, name: str, agent: Agent, access: Access) -> bool:
    return permissions.holds(name, agent, access) is True
