"""The dependency law: what each role may require and import, directly and through others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from seam.deplint.facts import Distribution, ImportKind, Place, Requirement, Section
from seam.deplint.rules._finding import Finding
from seam.deplint.rules._view import RUN_KINDS, View


def law_requirement(view: View) -> Iterator[Finding]:
    """Run-time requirements against the matrix."""
    yield from _requirements(view, Section.RUN, "law-requirement")


def law_extra(view: View) -> Iterator[Finding]:
    """Extras are run-time requirements of somebody and obey the same matrix."""
    yield from _requirements(view, Section.EXTRA, "law-extra")


def _requirements(view: View, section: Section, rule: str) -> Iterator[Finding]:
    for item in view.sorted_members():
        for requirement in item.requires(section):
            target = requirement.name
            if target == item.name or not view.is_ours(target) or view.permits(item.name, target):
                continue
            how = (
                f"requires {target}"
                if section is Section.RUN
                else f"requires {target} under the extra {requirement.section_name}"
            )
            yield Finding(
                rule,
                item.name,
                f"{requirement.section_name}:{target}",
                requirement.place,
                f"{_who(view, item.name)} {how} ({view.roles(target).label()})",
                way_out(view, item, target),
                edge=(item.name, target),
            )


def law_import(view: View) -> Iterator[Finding]:
    """Imports against the matrix: also for type checking, inside functions, and by constant string."""
    yield from _imports(
        view, "law-import", frozenset(ImportKind) - {ImportKind.STRING, ImportKind.ENTRY_POINT}
    )


def law_string(view: View) -> Iterator[Finding]:
    """A string that names a module which the role must not know."""
    yield from _imports(view, "law-string", frozenset({ImportKind.STRING}))


def _imports(view: View, rule: str, kinds: frozenset[ImportKind]) -> Iterator[Finding]:
    for item in view.sorted_members():
        places: dict[tuple[str, str, ImportKind], list[Place]] = {}
        modules: dict[tuple[str, str, ImportKind], str] = {}
        for edge in view.edges(item):
            target = edge.owner or expected_owner(view, edge.module)
            if edge.found.kind not in kinds or not target or target == item.name or not view.is_ours(target):
                continue
            if not view.permits(item.name, target):
                key = (edge.found.place.path, target, edge.found.kind)
                places.setdefault(key, []).append(edge.found.place)
                modules.setdefault(key, edge.found.module)
        for key, found in places.items():
            _, target, kind = key
            verb = "names" if kind is ImportKind.STRING else "imports"
            note = "" if kind in {ImportKind.RUN, ImportKind.STRING} else f" ({kind.value})"
            yield Finding(
                rule,
                item.name,
                f"{target}:{kind.name}",
                found[0],
                f"{_who(view, item.name)} {verb} {modules[key]}{note} of {target} ({view.roles(target).label()})",
                way_out(view, item, target),
                edge=(item.name, target),
                also_at=tuple(found[1:]),
            )


def expected_owner(view: View, module: str) -> str:
    """The distribution that must own a module by the naming law, where the one leaf per distribution is law."""
    if not view.settings.leaf:
        return ""
    for namespace in sorted(view.namespaces, key=len, reverse=True):
        if module.startswith(namespace + "."):
            leaf = module[len(namespace) + 1 :].partition(".")[0]
            return f"{namespace}-{leaf}".replace(".", "-").replace("_", "-")
    return ""


def law_transitive(view: View) -> Iterator[Finding]:
    """Chains whose steps are all lawful and which still end where the first distribution must not be."""
    steps = _Steps(view)
    for item in view.sorted_members():
        if not view.roles(item.name).roles:
            continue
        direct = {target for target, _ in steps(item, None)}
        for chain, place in _chains(view, item, steps):
            target = chain[-1]
            if target in direct or view.permits(item.name, target, direct=False):
                continue
            yield Finding(
                "law-transitive",
                item.name,
                target,
                place,
                f"{_who(view, item.name)} reaches {target} ({view.roles(target).label()}) through {' -> '.join(chain[1:-1])}",
                f"cut the chain {' -> '.join(chain)}: {way_out(view, item, target)}",
                edge=(item.name, target),
                chain=chain,
            )


_Found = dict[tuple[str, tuple[str, ...]], Place]


class _Steps:
    """What a distribution pulls in at run time, remembered: requirements (`extras` None: of every extra) and imports."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[tuple[str, tuple[str, ...] | None], _Found] = {}

    def __call__(self, item: Distribution, extras: tuple[str, ...] | None) -> _Found:
        found = self._known.get((item.name, extras))
        if found is None:
            found = self._known[item.name, extras] = self._read(item, extras)
        return found

    def _read(self, item: Distribution, extras: tuple[str, ...] | None) -> _Found:
        found: _Found = {}
        for requirement in item.requirements:
            if requirement.name != item.name and _pulled(requirement, extras):
                found.setdefault((requirement.name, requirement.extras), requirement.place)
        for edge in self._view.edges(item) if item.scanned else ():
            if edge.owner and edge.found.kind in RUN_KINDS:
                found.setdefault((edge.owner, ()), edge.found.place)
        return found


def _pulled(requirement: Requirement, extras: tuple[str, ...] | None) -> bool:
    if requirement.section is Section.RUN:
        return True
    return requirement.section is Section.EXTRA and (extras is None or requirement.section_name in extras)


def _chains(view: View, start: Distribution, steps: _Steps) -> Iterator[tuple[tuple[str, ...], Place]]:
    """Shortest lawful chains from `start` to everything of ours beyond its direct requirements."""
    queue: deque[tuple[Distribution, tuple[str, ...] | None, tuple[str, ...], Place]] = deque()
    queue.append((start, None, (start.name,), start.place))
    seen = {start.name}
    while queue:
        item, extras, path, first = queue.popleft()
        for (target, wanted), place in steps(item, extras).items():
            judged = view.is_ours(target) and view.roles(item.name).roles
            if target in seen or (judged and not view.permits(item.name, target)):
                continue  # an unlawful step is a finding of its own; what lies behind it is its consequence
            seen.add(target)
            chain = (*path, target)
            where = place if len(path) == 1 else first
            if view.is_ours(target) and len(chain) > 2:
                yield chain, where
            if target in view.known:
                queue.append((view.known[target], wanted, chain, where))


def _who(view: View, name: str) -> str:
    return f"{name} ({view.roles(name).label()})"


def way_out(view: View, item: Distribution, target: str) -> str:
    """What to do instead, in terms of the roles at hand."""
    theirs = view.roles(target)
    provided = theirs.provided_keys()
    if provided and not theirs.owned_keys():
        key = min(provided)
        owner = next((name for name in sorted(view.known) if key in view.roles(name).owned_keys()), "")
        if provided & view.roles(item.name).provided_keys():
            return f'declare it in pyproject.toml: [tool.seam] extends = ["{target}"], or build on the definition'
        if owner:
            return f"depend on {owner}, which defines the key {key!r}; the choice of {target} belongs to the deployment"
    allowed = sorted({name for role in view.roles(item.name).roles for name in role.may_require})
    may = ", ".join(allowed) if allowed else "nothing of ours"
    return f"a {view.roles(item.name).label()} may depend on: {may}; move what is shared into one of those"
