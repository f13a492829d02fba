"""Every distribution has a role, several only with a reason, and what is declared is true."""

from __future__ import annotations

from collections.abc import Iterator

from seam.deplint.facts import Place, Section, SourceKind
from seam.deplint.rules._finding import Finding
from seam.deplint.rules._view import View


def role_missing(view: View) -> Iterator[Finding]:
    """A distribution of the family whose role nothing tells."""
    if not view.settings.roles:
        return
    for item in view.sorted_members():
        if "entry-points" in item.dynamic:
            continue  # what the build will register is unknown, and reported as such
        if view.is_ours(item.name) and not view.roles(item.name).roles:
            groups = ", ".join(group for role in view.settings.roles for group in role.groups)
            yield Finding(
                "role-missing",
                item.name,
                "role",
                item.place,
                f"{item.name} has no role: no entry point, name or folder tells one",
                f"register an entry point in one of {groups or '(no groups configured)'}, or configure the role by name",
            )


def role_folded(view: View) -> Iterator[Finding]:
    """Several roles in one distribution need `[tool.seam] folded` with the reason.

    A distribution with one registered role may be folded as well: the other role then has no entry point of its own.
    """
    for item in view.sorted_members():
        assigned = view.roles(item.name)
        if len(assigned.roles) > 1 and item.folded is None:
            yield Finding(
                "role-folded",
                item.name,
                "unexplained",
                _role_place(view, item.name),
                f"{item.name} is {assigned.label()} at once and does not say why",
                'split it by role, drop the entry point that is not its own, or say [tool.seam] folded = "why"',
            )
        elif item.folded is not None and not item.folded.strip():
            text, way = "says folded without a reason", 'write the reason: [tool.seam] folded = "why"'
            yield Finding("role-folded", item.name, "empty", item.place, f"{item.name} {text}", way)


def _role_place(view: View, name: str) -> Place:
    item = view.members[name]
    groups = [
        point
        for point in item.entry_points
        for role in view.roles(name).roles
        if role.matches_group(point.group)
    ]
    return groups[-1].place if groups else item.place


def extends_idle(view: View) -> Iterator[Finding]:
    """What `extends` names must be a sibling of the same key that is really required."""
    for item in view.sorted_members():
        for target in item.extends:
            required = target in view.requirement_names(item, Section.RUN, Section.EXTRA)
            shared = view.roles(item.name).all_keys() & view.roles(target).all_keys()
            if target in view.known and not shared:
                text = f"{item.name} extends {target}, which shares no key with it"
                way = "only an implementer of the same key can be extended; remove it from `extends`"
            elif not required:
                text = f"{item.name} extends {target} but does not require it"
                way = f"remove {target} from [tool.seam] extends, or add it to dependencies"
            else:
                continue
            yield Finding("extends-idle", item.name, target, item.place, text, way, edge=(item.name, target))


def role_name(view: View) -> Iterator[Finding]:
    """A distribution name that ends like one role and plays another."""
    for item in view.sorted_members():
        assigned = view.roles(item.name)
        if not assigned.roles or not view.settings.is_family(item.name):
            continue
        for role in view.settings.roles:
            if not role.suffixes:
                continue
            named = item.name.endswith(role.suffixes)
            if named and role not in assigned.roles:
                text = f"{item.name} is named like a {role.name} but is {assigned.label()}"
            elif not named and assigned.roles == (role,) and role.owns_key:
                text = (
                    f"{item.name} is a {role.name} but its name does not end in {' or '.join(role.suffixes)}"
                )
            else:
                continue
            yield Finding(
                "role-name",
                item.name,
                role.name,
                item.place,
                text,
                "rename it, or give it the role that its name says",
            )


def rule_idle(view: View) -> Iterator[Finding]:
    """A role of the configuration that no distribution has, or a family that nobody belongs to."""
    if view.kind is not SourceKind.SOURCE:
        return
    place = Place(view.settings.path)
    assigned = {role.name for name in view.members for role in view.roles(name).roles}
    for role in view.settings.roles:
        if role.configured and role.name not in assigned:
            text = f"the role {role.name!r} of the configuration matches no distribution"
            yield Finding(
                "rule-idle",
                "",
                f"role:{role.name}",
                place,
                text,
                "correct its names, paths or groups, or remove it",
            )
    if view.settings.family and not any(view.settings.is_family(name) for name in view.members):
        text = f"no distribution here is of the family {', '.join(view.settings.family)}: nothing was judged"
        yield Finding("rule-idle", "", "family", place, text, "correct `family`")
