"""Instances that lack nothing but an optional service that may still come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seam.kernel._node import Node
from seam.kernel._resolve import awaited, give_up_waiting, startable

if TYPE_CHECKING:
    from seam.kernel._place import Place


def awaits_optional(node: Node) -> bool:
    """Whether somebody listed is about to provide, or may yet provide, one of its optional keys."""
    return any(
        claim is not None and claim.status in ("pending", "starting", "stopping") and not claim.final
        for claim in awaited(node, node.optional)
    )


class Blocked:
    """Who waits, by scope: a scope where nothing moves any more lets some of them start without."""

    def __init__(self) -> None:
        self._by_place: dict[Place, dict[Node, None]] = {}

    def add(self, node: Node) -> None:
        """It waits."""
        self._by_place.setdefault(node.home, {})[node] = None

    def remove(self, node: Node) -> None:
        """It does not wait any more."""
        waiting = self._by_place.get(node.home, {})
        waiting.pop(node, None)
        if not waiting:
            self._by_place.pop(node.home, None)

    def give_up(self) -> list[Node]:
        """Take out those that shall start without what they wait for."""
        found: list[Node] = []
        for place, waiting in self._by_place.items():
            if place.calm():
                found += give_up_waiting(node for node in waiting if startable(node))
        for node in found:
            self.remove(node)
        return found
