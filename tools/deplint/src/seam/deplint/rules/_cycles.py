"""Cycles among requirements: none of their members can be built, tested or released alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from seam.deplint.facts import Section
from seam.deplint.rules._finding import Finding
from seam.deplint.rules._view import View


def cycle(view: View) -> Iterator[Finding]:
    """The shortest cycle of every group of distributions that require one another."""
    graph = {
        item.name: sorted(view.requirement_names(item, Section.RUN) & view.members.keys() - {item.name})
        for item in view.sorted_members()
    }
    done: set[str] = set()
    for name in graph:
        if name in done:
            continue
        path = shortest_path(graph, name, name)
        if not path:
            continue
        done.update(_mutual(graph, name))
        item = view.members[name]
        place = next(entry.place for entry in item.requires(Section.RUN) if entry.name == path[1])
        text = f"{' -> '.join(path)}: they require one another"
        way = "move what both need into a definition that neither of them is"
        yield Finding("cycle", name, "->".join(path), place, text, way, edge=(name, path[1]), chain=path)


def _mutual(graph: Mapping[str, list[str]], name: str) -> set[str]:
    return {
        other
        for other in graph
        if other == name or (_reaches(graph, name, other) and _reaches(graph, other, name))
    }


def _reaches(graph: Mapping[str, list[str]], start: str, goal: str) -> bool:
    return bool(shortest_path(graph, start, goal))


def shortest_path(graph: Mapping[str, list[str]], start: str, goal: str) -> tuple[str, ...]:
    """The shortest path of at least one step, or an empty tuple."""
    queue: deque[tuple[str, ...]] = deque([(start,)])
    seen: set[str] = set()
    while queue:
        path = queue.popleft()
        for name in graph.get(path[-1], ()):
            if name == goal:
                return (*path, name)
            if name not in seen:
                seen.add(name)
                queue.append((*path, name))
    return ()
