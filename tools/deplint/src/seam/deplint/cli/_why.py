"""`why A B`: the shortest chains of requirements and imports between two distributions or modules."""

from __future__ import annotations

from itertools import pairwise

from seam.deplint._collect import NotChecked
from seam.deplint.cli._session import Session
from seam.deplint.facts import Place, Section
from seam.deplint.rules import View

_MOST = 5
"""Chains that are shown; more of the same length add nothing."""


def why(session: Session, source: str, target: str) -> tuple[str, bool]:
    """The text for people, and whether there is a chain at all."""
    view = session.material.views[0]
    start, goal = _distribution(view, source), _distribution(view, target)
    steps = _steps(view)
    chains = _shortest(steps, start, goal)
    if not chains:
        return f"nothing leads from {start} to {goal}\n", False
    lines: list[str] = []
    for chain in chains[:_MOST]:
        lines.append(" -> ".join(f"{name} ({view.roles(name).label()})" for name in chain))
        for one, other in pairwise(chain):
            lines += [f"    {one} {how}: {place}" for how, place in steps[one][other][:3]]
    if len(chains) > _MOST:
        lines.append(f"and {len(chains) - _MOST} more of this length")
    return "\n".join(lines) + "\n", True


def _distribution(view: View, name: str) -> str:
    wanted = name.lower().replace("_", "-")
    if wanted in view.known:
        return wanted
    owners = view.ownership.owners(name)
    if not owners:
        raise NotChecked(f"{name} is neither a distribution nor a module that is known here")
    return min(owners)


def _steps(view: View) -> dict[str, dict[str, list[tuple[str, Place]]]]:
    found: dict[str, dict[str, list[tuple[str, Place]]]] = {}
    for name, item in view.known.items():
        targets = found.setdefault(name, {})
        for entry in item.requires(Section.RUN, Section.EXTRA):
            how = f"requires {entry.text!r}" + (
                f" (extra {entry.section_name})" if entry.section_name else ""
            )
            targets.setdefault(entry.name, []).append((how, entry.place))
        for edge in view.edges(item):
            if edge.owner:
                how = f"imports {edge.module} ({edge.found.kind.value})"
                targets.setdefault(edge.owner, []).append((how, edge.found.place))
        targets.pop(name, None)
    return found


def _shortest(
    steps: dict[str, dict[str, list[tuple[str, Place]]]], start: str, goal: str
) -> list[tuple[str, ...]]:
    """Every chain of the least length, breadth first."""
    level: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    while level:
        found = [(*path, goal) for path in level if goal in steps.get(path[-1], {})]
        if found:
            return sorted(found)
        following = [(*path, name) for path in level for name in steps.get(path[-1], {}) if name not in seen]
        seen.update(path[-1] for path in following)
        level = following
    return []
