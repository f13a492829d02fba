"""Requirements against imports: nothing used that is not declared, nothing declared that is not used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from seam.deplint.facts import Distribution, ImportKind, Place, Section, SourceKind, canonical
from seam.deplint.rules._finding import Finding
from seam.deplint.rules._law import expected_owner
from seam.deplint.rules._view import Edge, View

_SECTIONS = {
    ImportKind.RUN: (Section.RUN,),
    ImportKind.FUNCTION: (Section.RUN, Section.EXTRA),
    ImportKind.DYNAMIC: (Section.RUN, Section.EXTRA),
    ImportKind.TYPE_CHECKING: (Section.RUN, Section.EXTRA, Section.GROUP),
}
"""Where a requirement must stand for an import of each kind. Other kinds need none: a guarded import stands for itself."""


@dataclass(slots=True)
class _Account:
    """The imports of one distribution set against its requirements."""

    used: set[str] = field(default_factory=set[str])
    undeclared: dict[tuple[str, str], Edge] = field(default_factory=dict[tuple[str, str], Edge])
    unowned: dict[str, Edge] = field(default_factory=dict[str, Edge])
    foreign: dict[str, Edge] = field(default_factory=dict[str, Edge])


def _account(view: View, item: Distribution) -> _Account:
    account = _Account()
    names = view.requirement_names(item, Section.RUN, Section.EXTRA, Section.GROUP)
    for edge in view.edges(item):
        kind = edge.found.kind
        owner = edge.owner or _mapped(view, edge.module, names)
        if owner:
            account.used.add(owner)
        if kind not in _SECTIONS:
            continue
        if owner:
            if owner != item.name and not _declared(view, item, edge, owner):
                account.undeclared.setdefault((owner, kind.name), edge)
        elif (
            view.ownership.under_namespace(edge.module)
            or edge.module.partition(".")[0] in view.settings.roots
        ):
            account.unowned.setdefault(edge.found.module, edge)
        else:
            account.foreign.setdefault(edge.module.partition(".")[0], edge)
    return account


def _mapped(view: View, module: str, names: frozenset[str]) -> str:
    """The distribution that provides a module by configuration, by naming law, or by having its very name."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        mapped = view.settings.modules.get(".".join(parts[:length]))
        if mapped:
            return mapped
    expected = expected_owner(view, module)
    if expected and expected not in view.known and (expected in names or not view.whole):
        return expected
    for length in range(len(parts), 0, -1):
        name = canonical("-".join(parts[:length]))
        if name in names and name not in view.known:
            return name
    return ""


def _declared(view: View, item: Distribution, edge: Edge, owner: str) -> bool:
    if owner in view.requirement_names(item, *_SECTIONS[edge.found.kind]):
        return True
    # a module that is named for an extra may import what that extra requires
    parts: set[str] = {canonical(part.strip("_")) for part in edge.found.importer.split(".")}
    parts.update(view.settings.present_extras)
    return any(entry.name == owner and entry.section_name in parts for entry in item.requires(Section.EXTRA))


def requirement_undeclared(view: View) -> Iterator[Finding]:
    """An import whose distribution is not among the requirements."""
    for item in view.sorted_members():
        if not item.scanned or "dependencies" in item.dynamic:
            continue
        account = view.once(_account, item)
        for (owner, _), edge in account.undeclared.items():
            if view.is_ours(owner) and not view.permits(item.name, owner):
                continue  # the law forbids the edge itself: declaring it would be no way out
            kind = edge.found.kind
            note = "" if kind is ImportKind.RUN else f" ({kind.value})"
            yield Finding(
                "requirement-undeclared",
                item.name,
                f"{owner}:{kind.name}",
                edge.found.place,
                f"{item.name} imports {edge.module}{note} of {owner} and does not require it",
                f"add {owner} to {'project.dependencies' if kind is ImportKind.RUN else 'project.dependencies or an extra'}",
                edge=(item.name, owner),
            )
        if account.foreign and not _unaccounted(view, item, account):
            for top, edge in account.foreign.items():
                yield Finding(
                    "requirement-undeclared",
                    item.name,
                    f"module:{top}",
                    edge.found.place,
                    f"{item.name} imports {top}, which no requirement of it provides",
                    f'add the distribution that provides {top}, or map it: [tool.seam-deplint.modules] {top} = "..."',
                )


def import_unowned(view: View) -> Iterator[Finding]:
    """A module below one of our namespaces that no distribution at hand ships."""
    if not view.whole:
        return
    for item in view.sorted_members():
        for module, edge in (view.once(_account, item).unowned if item.scanned else {}).items():
            yield Finding(
                "import-unowned",
                item.name,
                module,
                edge.found.place,
                f"{item.name} imports {edge.module}, which no distribution here ships",
                "correct the name, or add the distribution that owns it",
            )


def requirement_unused(view: View) -> Iterator[Finding]:
    """A sibling that is required and never imported."""
    yield from _unused(view, "requirement-unused", ours=True)


def foreign_unused(view: View) -> Iterator[Finding]:
    """A foreign distribution whose modules are known, that is required and never imported."""
    yield from _unused(view, "foreign-unused", ours=False)


def _unused(view: View, rule: str, *, ours: bool) -> Iterator[Finding]:
    for item in view.sorted_members():
        if not item.scanned:
            continue
        account = view.once(_account, item)
        for requirement in item.requires(Section.RUN):
            name = requirement.name
            if (
                name in account.used
                or name == item.name
                or not _judged(view, name)
                or view.is_ours(name) is not ours
            ):
                continue
            if ours and not view.permits(item.name, name):
                continue  # reported as unlawful
            text = f"{item.name} requires {name} and imports nothing of it"
            way = f"remove {name} from project.dependencies, or ignore this with the reason it is needed"
            yield Finding(rule, item.name, name, requirement.place, text, way, edge=(item.name, name))


def _judged(view: View, name: str) -> bool:
    """Whether an unused requirement can be told: its modules are at hand, or the naming law says what they are."""
    return name in view.known or (view.is_ours(name) and view.settings.leaf)


def _unaccounted(view: View, item: Distribution, account: _Account) -> list[str]:
    """Foreign requirements whose modules nobody here knows and whose name no import shows."""
    names = view.requirement_names(item, Section.RUN, Section.EXTRA)
    return sorted(
        name
        for name in names
        if name not in account.used and name not in view.known and not view.is_ours(name)
    )


def requirement_unverified(view: View) -> Iterator[Finding]:
    """Foreign requirements and modules that cannot be matched without knowing what the wheels contain."""
    for item in view.sorted_members():
        if not item.scanned:
            continue
        account = view.once(_account, item)
        left = _unaccounted(view, item, account)
        if not left:
            continue
        modules = ", ".join(sorted(account.foreign))
        text = f"{item.name} requires {', '.join(left)}; which modules they provide is not known here"
        yield Finding(
            "requirement-unverified",
            item.name,
            ",".join(left),
            item.place,
            f"{text} (unmatched imports: {modules})" if modules else f"{text}, and no import is unmatched",
            "name an environment that has them (--python), or map the modules under [tool.seam-deplint.modules]",
        )


def import_unverifiable(view: View) -> Iterator[Finding]:
    """A dynamic import whose module is computed: nobody can check it."""
    for item in view.sorted_members():
        for module in item.modules.values():
            for text, line in module.scan.unverifiable:
                yield Finding(
                    "import-unverifiable",
                    item.name,
                    text,
                    Place(module.path, line),
                    f"{text} imports a module whose name is computed",
                    "import by a constant name, or load an entry point through importlib.metadata",
                )


def requirement_missing(view: View) -> Iterator[Finding]:
    """A requirement of an installed distribution of ours that is not installed itself."""
    if view.kind is not SourceKind.INSTALLED:
        return
    for item in view.sorted_members():
        for requirement in item.requires(Section.RUN):
            if requirement.name in view.known or requirement.marker:
                continue  # a marker may exclude this interpreter, which is not at hand to be asked
            text = f"{item.name} requires {requirement.text!r}, which is not installed"
            way = f"install {requirement.name}, or install {item.name} again"
            yield Finding("requirement-missing", item.name, requirement.name, requirement.place, text, way)
