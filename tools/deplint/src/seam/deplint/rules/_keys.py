"""Keys: one owner each, an implementer and a user, and implementers that know the contract they implement."""

from __future__ import annotations

from collections.abc import Iterator

from seam.deplint.facts import Distribution, Place, Section
from seam.deplint.rules._finding import Finding
from seam.deplint.rules._view import View


def key_duplicate(view: View) -> Iterator[Finding]:
    """Two definitions that own one key."""
    owners: dict[str, list[str]] = {}
    for name in sorted(view.known):
        for key in view.roles(name).owned_keys():
            owners.setdefault(key, []).append(name)
    for key, names in sorted(owners.items()):
        for second in names[1:]:
            if second in view.members:
                text = f"the key {key!r} is defined by {names[0]} and by {second}"
                way = "a key has exactly one definition: rename one of them or merge the two"
                place = _key_place(view, view.members[second], key)
                yield Finding("key-duplicate", second, key, place, text, way, edge=(second, names[0]))


def _key_place(view: View, item: Distribution, key: str) -> Place:
    for role in view.roles(item.name).roles:
        for point in item.entry_points:
            named = point.name if role.key_from == "name" else point.group.rpartition(".")[2]
            if role.key_from and role.matches_group(point.group) and named == key:
                return point.place
    return item.place


def key_undefined(view: View) -> Iterator[Finding]:
    """An implementer whose requirements do not contain the definition of its key."""
    for item in view.sorted_members():
        assigned = view.roles(item.name)
        for key in sorted(assigned.provided_keys() - assigned.owned_keys()):
            owner = next((name for name in sorted(view.known) if key in view.roles(name).owned_keys()), "")
            if owner and owner in _closure(view, item):
                continue
            if not owner and not view.whole and _unknown_siblings(view, item):
                continue  # a wheel alone: one of the siblings that are not at hand may define the key
            text = f"{item.name} implements the key {key!r}, "
            text += (
                f"which {owner} defines, and does not require it"
                if owner
                else "which no definition at hand owns"
            )
            way = (
                f"add {owner} to project.dependencies" if owner else "correct the key, or add its definition"
            )
            yield Finding("key-undefined", item.name, key, _key_place(view, item, key), text, way)


def _closure(view: View, item: Distribution) -> set[str]:
    found: set[str] = set()
    stack = [item.name]
    while stack:
        known = view.known.get(stack.pop())
        for name in view.requirement_names(known, Section.RUN) if known else ():
            if name not in found:
                found.add(name)
                stack.append(name)
    return found


def _unknown_siblings(view: View, item: Distribution) -> bool:
    return any(
        view.is_ours(name) and name not in view.known for name in view.requirement_names(item, Section.RUN)
    )


def _uses(view: View, name: str) -> tuple[dict[str, list[str]], list[str]]:
    """For a definition: who implements each of its keys, and who requires it without implementing any of them."""
    keys = view.roles(name).owned_keys()
    implementers = {
        key: [other for other in sorted(view.known) if key in view.roles(other).provided_keys()]
        for key in keys
    }
    implementing = {other for found in implementers.values() for other in found}
    users: list[str] = []
    for other, item in sorted(view.known.items()):
        if name in view.requirement_names(item, Section.RUN, Section.EXTRA):
            theirs = view.roles(other)
            if other not in implementing or theirs.provided_keys() - keys or len(theirs.roles) > 1:
                users.append(other)
    if len(view.roles(name).roles) > 1:
        users.append(name)  # folded: the definition's own distribution is a user
    return implementers, users


def key_incomplete(view: View) -> Iterator[Finding]:
    """A definition whose key nobody implements, or that nobody uses."""
    for item in view.sorted_members():
        if not view.roles(item.name).owned_keys():
            continue
        implementers, users = _uses(view, item.name)
        for key, found in sorted(implementers.items()):
            if not found and not item.folded:
                text = f"nobody implements the key {key!r} of {item.name}"
                place = _key_place(view, item, key)
                yield Finding(
                    "key-incomplete",
                    item.name,
                    f"implementer:{key}",
                    place,
                    text,
                    "add an implementer, or fold",
                )
        if not users:
            text = f"nobody uses {item.name}: no distribution beside its implementers requires it"
            yield Finding(
                "key-incomplete",
                item.name,
                "user",
                item.place,
                text,
                "add a consumer, or remove the definition",
            )


def split_premature(view: View) -> Iterator[Finding]:
    """One implementer and one user: the three might be one distribution."""
    for item in view.sorted_members():
        assigned = view.roles(item.name)
        if len(assigned.roles) != 1 or not assigned.owned_keys() or item.folded:
            continue
        implementers, users = _uses(view, item.name)
        behind = {other for found in implementers.values() for other in found}
        if len(behind) == 1 and len(users) == 1:
            text = f"{item.name} has one implementer ({min(behind)}) and one user ({users[0]})"
            way = "unless a second of either is on its way, fold them into one distribution"
            yield Finding("split-premature", item.name, "split", item.place, text, way)
