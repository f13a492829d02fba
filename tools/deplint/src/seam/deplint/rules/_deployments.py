"""Deployment rows against what is at hand: every row has exactly one provider."""

from __future__ import annotations

from collections.abc import Iterator

from seam.deplint.rules._finding import Finding
from seam.deplint.rules._view import View
from seam.deplint.settings import Role
from seam.deplint.sources import Deployment, Row


def deployment_row(view: View, deployment: Deployment) -> Iterator[Finding]:
    """Rows that name a key, mechanism, consumer or distribution which is not there, or is there twice."""
    owned = {key for name in view.known for key in view.roles(name).owned_keys()}
    for row in deployment.rows.values():
        said, way = _fault(view, row, owned)
        if said:
            yield Finding("deployment-row", "", row.table, row.place, f"[{row.table}] {said}", way)


def _fault(view: View, row: Row, owned: set[str]) -> tuple[str, str]:
    if row.key and row.key not in owned:
        return f"names the key {row.key!r}, which no definition at hand owns", f"keys are: {_listed(owned)}"
    if not row.use:
        return "does not say which implementer", 'add `use = "..."`'
    groups = _groups(view, row)
    providers = {
        name: point
        for name, item in sorted(view.known.items())
        for point in item.entry_points
        if point.group in groups and point.name == row.use
    }
    if row.distribution:
        if row.distribution in providers:
            return "", ""
        return (
            f"asks {row.distribution} for {row.use!r}, which it does not register",
            "correct `use` or `distribution`",
        )
    if len(providers) > 1:
        return (
            f"{row.use!r} is registered by {' and by '.join(providers)}",
            'choose with `distribution = "..."`',
        )
    if providers or row.optional:
        return "", ""
    offered = {
        point.name for item in view.known.values() for point in item.entry_points if point.group in groups
    }
    return (
        f"asks for {row.use!r}, which nothing at hand registers in {_listed(groups)}",
        f"there are: {_listed(offered)}",
    )


def _groups(view: View, row: Row) -> set[str]:
    def of(role: Role) -> bool:
        return bool(role.groups) and not role.owns_key and (role.key_from == "group") == bool(row.key)

    return {group.replace("*", row.key) for role in view.settings.roles if of(role) for group in role.groups}


def _listed(words: set[str]) -> str:
    return ", ".join(sorted(words)) or "(none)"
