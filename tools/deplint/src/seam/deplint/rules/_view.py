"""One source of facts as the rules see it: its members, what is known beside them, who owns what, who plays what."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

from seam.deplint.facts import (
    Distribution,
    EntryPoint,
    Import,
    ImportKind,
    Module,
    Ownership,
    Place,
    Section,
    SourceKind,
)
from seam.deplint.rules._roles import Assigned, assign, infer, permitted
from seam.deplint.settings import Settings

_GONE_FROM_STDLIB = frozenset(
    [
        "aifc",
        "asynchat",
        "asyncore",
        "audioop",
        "cgi",
        "cgitb",
        "chunk",
        "crypt",
        "distutils",
        "imghdr",
        "imp",
        "mailcap",
        "msilib",
        "nis",
        "nntplib",
        "ossaudiodev",
        "pipes",
        "smtpd",
        "sndhdr",
        "spwd",
        "sunau",
        "telnetlib",
        "uu",
        "xdrlib",
    ]
)
STDLIB = sys.stdlib_module_names | _GONE_FROM_STDLIB | {"__main__"}

Made = TypeVar("Made")

DECLARATIONS = frozenset({"folded", "extends"})
"""Groups below the prefix that carry the words of `[tool.seam]` into built metadata; they name no role."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An import of one distribution that reaches `owner` (empty where nobody known owns the module)."""

    found: Import
    module: str
    owner: str


class View:
    """Facts of one kind. `members` are judged; `context` only answers questions about others.

    `homes` are the folders of distributions in the source tree, for roles that are given by folder. `whole` says that
    the members are a complete workspace, so that what is absent is a fault.
    """

    def __init__(
        self,
        kind: SourceKind,
        members: Iterable[Distribution],
        settings: Settings,
        *,
        context: Iterable[Distribution] = (),
        whole: bool = True,
        homes: Mapping[str, str] | None = None,
    ) -> None:
        self.kind = kind
        self.settings = settings
        self.whole = whole
        self.members = {item.name: item for item in members}
        self.known = {item.name: item for item in context} | self.members
        self.namespaces = frozenset(settings.namespaces)
        self.ownership = Ownership(self.known.values(), self.namespaces)
        self._roles = {
            name: assign(item, settings, (homes or {}).get(name, "")) for name, item in self.known.items()
        }
        self._edges: dict[str, tuple[Edge, ...]] = {}
        self._once: dict[tuple[object, str], object] = {}

    def roles(self, name: str) -> Assigned:
        """The roles of a distribution, by what is known of it or by its name."""
        found = self._roles.get(name)
        return found if found is not None else infer(name, self.settings)

    def is_ours(self, name: str) -> bool:
        """Whether the law speaks about a distribution: one of the family, or one with a role."""
        return self.settings.is_family(name) or bool(self.roles(name).roles)

    def permits(self, source: str, target: str, *, direct: bool = True) -> bool:
        """Whether the matrix allows the edge."""
        item = self.known[source]
        return permitted(item, self.roles(source), target, self.roles(target), direct=direct)

    def sorted_members(self) -> list[Distribution]:
        """The members by name: output never depends on the order of reading."""
        return [self.members[name] for name in sorted(self.members)]

    def once(self, make: Callable[[View, Distribution], Made], item: Distribution) -> Made:
        """What `make` derives from a member, derived once for all rules of this view."""
        key = (make, item.name)
        if key not in self._once:
            self._once[key] = make(self, item)
        return cast("Made", self._once[key])

    def edges(self, item: Distribution) -> tuple[Edge, ...]:
        """Every import of a distribution that leaves it, attributed to its owner."""
        known = self._edges.get(item.name)
        if known is None:
            known = tuple(self._attribute(item))
            self._edges[item.name] = known
        return known

    def _attribute(self, item: Distribution) -> Iterator[Edge]:
        for found in (*imports_of(item), *self._targets_elsewhere(item)):
            top = found.module.partition(".")[0]
            if top in STDLIB and top not in self.settings.roots:
                continue
            seen: set[tuple[str, str]] = set()
            for module in self._targets(found):
                owners = self.ownership.owners(module)
                if item.name in owners:
                    continue
                owner = min(owners) if owners else ""
                if (module if not owner else "", owner) in seen:
                    continue
                seen.add((module if not owner else "", owner))
                yield Edge(found, module, owner)

    def _targets_elsewhere(self, item: Distribution) -> Iterator[Import]:
        """Entry points as imports: whoever loads one imports its module."""
        for point in item.entry_points:
            if not self.is_declaration(point) and point.module not in item.modules:
                yield Import("", point.module, (), ImportKind.ENTRY_POINT, point.place)

    def is_declaration(self, point: EntryPoint) -> bool:
        """Whether an entry point carries a word of `[tool.seam]` into built metadata; nobody loads it."""
        prefix = self.settings.group_prefix
        return bool(prefix) and point.group in {prefix + word for word in DECLARATIONS}

    def _targets(self, found: Import) -> Iterable[str]:
        if not found.names:
            return () if self.ownership.is_shared(found.module) else (found.module,)
        return [f"{found.module}.{name}" for name in found.names]

    def requirement_names(self, item: Distribution, *sections: Section) -> frozenset[str]:
        """Canonical names required in the given lists."""
        return frozenset(requirement.name for requirement in item.requires(*sections))


def imports_of(item: Distribution) -> Iterator[Import]:
    """The imports of a distribution with absolute module names."""
    for module in item.modules.values():
        for raw in module.scan.imports:
            name = _absolute(module, raw.module, raw.level)
            if name:
                yield Import(module.name, name, raw.names, raw.kind, Place(module.path, raw.line))


def _absolute(module: Module, name: str, level: int) -> str:
    if not level:
        return name
    parts = module.name.split(".")
    keep = len(parts) - level + (1 if module.is_package else 0)
    if keep <= 0:
        return ""  # climbs out of the distribution: nothing that could be imported
    return ".".join([*parts[:keep], *([name] if name else [])])


RUN_KINDS = frozenset(
    {ImportKind.ENTRY_POINT, ImportKind.RUN, ImportKind.FUNCTION, ImportKind.GUARDED, ImportKind.DYNAMIC}
)
"""Imports that happen, or may happen, when the code runs."""
