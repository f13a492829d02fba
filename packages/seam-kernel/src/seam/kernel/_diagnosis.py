"""Finds what keeps a scope from being complete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from seam.kernel._node import Node
from seam.kernel._problem import Problem
from seam.kernel._resolve import awaited, claimant, depends_on, offered

if TYPE_CHECKING:
    from seam.kernel._place import Place


def find_problems(top: Place) -> tuple[Problem, ...]:
    """Every problem of a scope and of those below it, in listing order."""
    found: list[Problem] = []
    nodes = [(place, node) for place in top.subtree() for node in place.nodes()]
    circles = _circles([node for _, node in nodes if node.status == "pending"])
    told: set[int] = set()
    for place, node in nodes:
        if node.status == "failed":
            found.append(_failed(node))
        elif node in circles:
            circle = circles[node]
            if id(circle) not in told:
                told.add(id(circle))
                found.append(_cycle(circle))
        elif node.missing:
            found.append(_missing(node))
        if node.home is not place and node.run is not None:
            found.extend(_divergent(place, node))
    return tuple(found)


def _failed(node: Node) -> Problem:
    error = node.failure
    cause = None if error is None else error.__cause__
    return Problem("failed", node, (), (), cause or error, str(error))


def _missing(node: Node) -> Problem:
    reasons = [_reason(node, key) for key in node.missing]
    text = f"{node.name!r} is pending: " + "; ".join(reasons)
    return Problem("missing", node, node.missing, (), None, text)


def _reason(node: Node, key: str) -> str:
    claim = claimant(node, key)
    if claim is None:
        return f"nothing in scope {node.home.name!r} provides {key!r}"
    why = {
        "failed": f"failed ({claim.failure})",
        "active": "is active but has not provided it",
    }.get(claim.status, f"is {claim.status} itself")
    return f"{key!r} comes from {claim.name!r}, which {why}"


def _cycle(circle: list[Node]) -> Problem:
    path = tuple(node.name for node in [*circle, circle[0]])
    keys: list[str] = []
    for node, provider in zip(circle, [*circle[1:], circle[0]], strict=True):
        keys.append(next(key for key in node.requires if claimant(node, key) is provider))
    steps = ", ".join(
        f"{node} requires {key!r} from {provider}"
        for node, key, provider in zip(path, keys, path[1:], strict=False)
    )
    text = f"requirement cycle {' -> '.join(path)}: {steps}; one of them must do without, or make it optional"
    return Problem("cycle", circle[0], tuple(keys), path, None, text)


def _divergent(place: Place, node: Node) -> Iterator[Problem]:
    for key in (*node.requires, *node.optional):
        claim = claimant(node, key, place)
        if claim is not None and depends_on(claim, node):
            continue
        wanted = claim if claim is not None and offered(claim, key) is not None else None
        used = node.bindings.get(key)
        if wanted is not used:
            text = (
                f"{node.name!r} was adopted by {place.name!r} but uses {key!r} from {used.name if used else 'nobody'}, "
                f"where this scope gives it from {wanted.name if wanted else 'nobody'}; load a new instance instead"
            )
            yield Problem("divergent", node, (key,), (), None, text)


def _circles(pending: list[Node]) -> dict[Node, list[Node]]:
    """For each instance on a circle of requirements: the circle, first listed first."""
    order = {node: index for index, node in enumerate(pending)}
    found: dict[Node, list[Node]] = {}
    done: set[Node] = set()
    for start in pending:
        path: dict[Node, Iterator[Node]] = {start: _steps(start)}
        while path:
            node = next(reversed(path))
            step = None if node in done else next(path[node], None)
            if step is None:
                done.add(node)
                del path[node]
            elif step in path:
                members = list(path)
                circle = members[members.index(step) :]
                first = min(range(len(circle)), key=lambda index: order.get(circle[index], len(order)))
                circle = circle[first:] + circle[:first]
                if not any(member in found for member in circle):
                    found.update(dict.fromkeys(circle, circle))
            elif step not in done:
                path[step] = _steps(step)
    return found


def _steps(node: Node) -> Iterator[Node]:
    return iter(
        [claim for claim in awaited(node, node.requires) if claim is not None and claim.status == "pending"]
    )
