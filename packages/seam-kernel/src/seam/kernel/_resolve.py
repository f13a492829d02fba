"""Which instance gives a key to another, and whether waiting for it makes sense.

A key resolves in the own scope first and then upward, unless a realm isolates it on the way. The nearest claimant
counts, even while it is pending or failed: nothing silently falls back to a provider further up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from seam.kernel._node import Node, Provision

if TYPE_CHECKING:
    from seam.kernel._place import Place


def claimant(node: Node, key: str, place: Place | None = None) -> Node | None:
    """The instance that gives `key` to `node`, as seen from its home or another place, whether it can do so now or not.

    Who provides a key never gets it from itself: it wraps the one above.
    """
    above: Place | None = place or node.home
    if key in node.provides:
        above = None if key in above.isolate else above.parent
    while above is not None:
        claim = above.claim(key)
        if claim is not None:
            return claim
        above = None if key in above.isolate else above.parent
    return None


def provision(node: Node, key: str) -> Provision | None:
    """The service that `node` can use under `key` now."""
    claim = claimant(node, key)
    return None if claim is None else offered(claim, key)


def offered(claim: Node, key: str) -> Provision | None:
    """What a claimant offers under `key` now."""
    found = claim.provisions.get(key)
    return found if found is not None and found.open else None


def outdated(node: Node) -> bool:
    """Whether a running instance would be given other services if it started now.

    Whoever depends on it does not count, neither for nor against what it has: what it loaded itself, or what its
    services brought up, must not unwind it, or it would start and stop for ever.
    """
    assert node.run is not None
    bindings = node.run.bindings
    for key in (*node.requires, *node.optional):
        bound, claim = bindings.get(key), claimant(node, key)
        if claim is not None and (bound is None or claim is not bound.node) and depends_on(claim, node):
            continue
        if bound is not (None if claim is None else offered(claim, key)):
            return True
    return False


def depends_on(dependent: Node, node: Node) -> bool:
    """Whether `dependent` runs on something of `node`, directly or not, or was loaded by it."""
    seen: set[Node] = set()
    stack = [dependent]
    while stack:
        current = stack.pop()
        if current is node:
            return True
        if current in seen:
            continue
        seen.add(current)
        if current.parent is not None:
            stack.append(current.parent)
        if current.run is not None:
            stack.extend(used.node for used in current.run.bindings.values())
    return False


def awaited(node: Node, keys: Iterable[str]) -> list[Node | None]:
    """For each key that is not offered to a pending instance: its claimant, or `None` if nobody claims it."""
    return [claim for key in keys if (claim := claimant(node, key)) is None or offered(claim, key) is None]


def startable(node: Node) -> bool:
    """Whether nothing but its requirements can keep a pending instance from starting."""
    if node.final or node.status != "pending" or not node.places or node.sealed_by is not None:
        return False
    if any(place.closing for place in node.places):
        return False
    parent = node.parent
    return parent is None or (parent.run is not None and not parent.run.closing)


def hopeful(nodes: Iterable[Node]) -> set[Node]:
    """Those of `nodes`, and of what they wait for, that could start if no optional key had to be waited for.

    Requirements that are missing, failed, or wait for one another in a circle make an instance hopeless.
    """
    waiting: dict[Node, int] = {}
    waiters: dict[Node, list[Node]] = {}
    found: list[Node] = []
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if node in waiting:
            continue
        waiting[node] = -1
        if node.status in ("starting", "stopping"):
            found.append(node)
        elif startable(node):
            needs = awaited(node, node.requires)
            if not needs:
                found.append(node)
            elif None not in needs:
                claims = {need for need in needs if need is not None}
                waiting[node] = len(claims)
                for claim in claims:
                    waiters.setdefault(claim, []).append(node)
                todo.extend(claims)
    good = set(found)
    while found:
        for waiter in waiters.get(found.pop(), ()):
            waiting[waiter] -= 1
            if waiting[waiter] == 0:
                good.add(waiter)
                found.append(waiter)
    return good


def give_up_waiting(blocked: Iterable[Node]) -> list[Node]:
    """Who of those that wait for nothing but optional keys shall start without them, when nothing else moves.

    First those whose optional providers can never come; if there are none, one of each circle of waiting.
    """
    blocked = list(blocked)
    hopes = {node: [claim for claim in awaited(node, node.optional) if claim is not None] for node in blocked}
    good = hopeful({claim for claims in hopes.values() for claim in claims} | set(blocked))
    hopes = {node: [claim for claim in claims if claim in good] for node, claims in hopes.items()}
    hopeless = [node for node in blocked if not hopes[node]]
    return hopeless or list(_circles(hopes))


def _circles(hopes: dict[Node, list[Node]]) -> Iterator[Node]:
    seen: dict[Node, Node] = {}
    for start in hopes:
        path: list[Node] = []
        node = start
        while node not in seen:
            seen[node] = start
            path.append(node)
            needs = [claim for claim in awaited(node, node.requires) if claim is not None]
            wanted = needs or hopes.get(node)
            if not wanted:
                break  # it is about to start by itself
            node = wanted[0]
        else:
            if seen[node] is start:
                circle = path[path.index(node) :]
                yield next(member for member in circle if member in hopes)
