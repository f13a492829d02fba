"""Entry points: targets that exist, in the distribution that registers them, under a group and name that are its own."""

from __future__ import annotations

from collections.abc import Iterator

from seam.deplint.facts import Distribution, EntryPoint, Section
from seam.deplint.rules._finding import Finding
from seam.deplint.rules._view import DECLARATIONS, View


def entry_point_target(view: View) -> Iterator[Finding]:
    """A target that is nowhere, or in somebody else's distribution."""
    for item in view.sorted_members():
        if not item.modules:
            continue
        for point in item.entry_points:
            said = "" if view.is_declaration(point) else _fault(view, item, point)
            if said:
                text = f"{item.name} registers {point.name} = {point.value!r} in {point.group}: {said}"
                way = "correct the target; it is `module` or `module:attribute` of this distribution"
                yield Finding(
                    "entry-point-target", item.name, f"{point.group}:{point.name}", point.place, text, way
                )


def _fault(view: View, item: Distribution, point: EntryPoint) -> str:
    module = item.modules.get(point.module)
    if module is None:
        if any(name.startswith(point.module + ".") for name in item.modules):
            return "" if not point.attribute else f"{point.module} is a folder without __init__.py"
        others = view.ownership.owners(point.module) - {item.name}
        if others & view.requirement_names(item, Section.RUN):
            return "" if view.permits(item.name, min(others)) else "the law forbids the target's distribution"
        return f"the module belongs to {min(others)}" if others else "there is no such module"
    if not item.scanned or module.scan.error or module.scan.star or not point.attribute:
        return ""
    first = point.attribute.partition(".")[0]
    if (
        first in module.scan.names
        or "__getattr__" in module.scan.names
        or f"{module.name}.{first}" in item.modules
    ):
        return ""
    return f"{point.module} binds no name {first}"


def entry_point_duplicate(view: View) -> Iterator[Finding]:
    """One group and name registered by two distributions: which of them is loaded is chance."""
    seen: dict[tuple[str, str], str] = {}
    owning = [group for role in view.settings.roles if role.owns_key for group in role.groups]
    for item in view.sorted_members():
        for point in item.entry_points:
            if point.group in owning or view.is_declaration(point):
                continue  # a key with two owners is a finding of its own
            first = seen.setdefault((point.group, point.name), item.name)
            if first != item.name:
                text = f"{point.name} in {point.group} is registered by {first} and by {item.name}"
                subject = f"{point.group}:{point.name}"
                way = "give one of them another name"
                yield Finding(
                    "entry-point-duplicate",
                    item.name,
                    subject,
                    point.place,
                    text,
                    way,
                    edge=(item.name, first),
                )


def entry_point_group(view: View) -> Iterator[Finding]:
    """A group below the family's prefix that nobody reads."""
    prefix = view.settings.group_prefix
    if not prefix:
        return
    for item in view.sorted_members():
        for group in sorted({point.group for point in item.entry_points}):
            known = any(role.matches_group(group) for role in view.settings.roles)
            if not group.startswith(prefix) or known or group.removeprefix(prefix) in DECLARATIONS:
                continue
            place = next(point.place for point in item.entry_points if point.group == group)
            groups = ", ".join(name for role in view.settings.roles for name in role.groups)
            text = f"{item.name} registers in {group}, a group that no role owns"
            yield Finding("entry-point-group", item.name, group, place, text, f"the groups are {groups}")


def declaration_hidden(view: View) -> Iterator[Finding]:
    """`[tool.seam]` is not part of a wheel: what it declares must stand in entry points too, and say the same."""
    prefix = view.settings.group_prefix
    for item in view.sorted_members():
        if not item.is_source or not prefix:
            continue
        reasons = {point.name for point in item.entry_points if point.group == prefix + "folded"}
        extended = {point.name for point in item.entry_points if point.group == prefix + "extends"}
        wanted = {item.folded} if item.folded else set[str]()
        for word, declared, registered in (
            ("folded", wanted, reasons),
            ("extends", set(item.extends), extended),
        ):
            if declared != registered:
                text = f"{item.name}: [tool.seam] {word} says {_said(declared)}, entry-point group {prefix}{word} {_said(registered)}"
                way = f'say the same in [project.entry-points."{prefix}{word}"]: a wheel carries only that'
                yield Finding("declaration-hidden", item.name, word, item.place, text, way)


def _said(words: set[str]) -> str:
    return ", ".join(repr(word) for word in sorted(words)) or "nothing"
