"""What a picture of a view shows: distributions with their roles, and the edges between them."""

from __future__ import annotations

from dataclasses import dataclass

from seam.deplint.facts import ImportKind, Section
from seam.deplint.rules import View

NO_ROLE = "#9aa0a6"
_FORBIDDEN = "#d1242f"


@dataclass(frozen=True, slots=True)
class Node:
    """One distribution. `rank` is its floor: the longest lawful way down from it."""

    name: str
    role: str
    color: str
    rank: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """One requirement or import between two distributions of ours; `lawful` says what the matrix says."""

    source: str
    target: str
    how: str
    lawful: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """Nodes by rank and name, arrows by their ends."""

    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]

    @property
    def legend(self) -> tuple[tuple[str, str], ...]:
        """Role names with their colours, in order of appearance."""
        return tuple(dict.fromkeys((node.role, node.color) for node in self.nodes))


def picture(view: View) -> Picture:
    """The family of a view; third-party distributions are left out."""
    names = [item.name for item in view.sorted_members() if view.is_ours(item.name)]
    arrows: list[Arrow] = []
    for name in names:
        item = view.members[name]
        required = {entry.name for entry in item.requires(Section.RUN)} & set(names) - {name}
        optional = {entry.name for entry in item.requires(Section.EXTRA)} & set(names) - required - {name}
        told = (edge.owner for edge in view.edges(item) if edge.found.kind is not ImportKind.STRING)
        imported = set(told) & set(names) - required - optional - {name}
        for how, targets in (("requires", required), ("extra", optional), ("imports", imported)):
            arrows += [Arrow(name, target, how, view.permits(name, target)) for target in sorted(targets)]
    below: dict[str, list[str]] = {name: [] for name in names}
    for arrow in arrows:
        below[arrow.source].append(arrow.target)
    ranks: dict[str, int] = {}
    for name in names:
        _rank(name, below, ranks, ())
    nodes = [_node(view, name, ranks[name]) for name in names]
    return Picture(tuple(sorted(nodes, key=lambda node: (node.rank, node.name))), tuple(arrows))


def _rank(name: str, below: dict[str, list[str]], ranks: dict[str, int], above: tuple[str, ...]) -> int:
    if name in ranks:
        return ranks[name]
    targets = [
        target for target in below[name] if target not in above and target != name
    ]  # a cycle has no floor
    ranks[name] = 1 + max((_rank(target, below, ranks, (*above, name)) for target in targets), default=-1)
    return ranks[name]


def _node(view: View, name: str, rank: int) -> Node:
    roles = view.roles(name).roles
    color = roles[0].color if roles and roles[0].color else NO_ROLE
    return Node(name, view.roles(name).label(), color, rank)


def arrow_color(arrow: Arrow) -> str:
    """Grey for lawful arrows, red for the others."""
    return "#8b949e" if arrow.lawful else _FORBIDDEN
