"""What a sealed scope refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seam.kernel._errors import ContextSealed

if TYPE_CHECKING:
    from seam.kernel._node import Node
    from seam.kernel._place import Place


def sealed(place: Place, name: str, what: str) -> ContextSealed:
    """The refusal of a sealed scope."""
    return ContextSealed(
        f"scope {place.name!r} is published; {name!r} cannot be {what}: make a new generation",
        context=place.name,
        plugin=name,
    )


def refuse_sealed(node: Node, what: str, *, around: bool) -> None:
    """Raise if a sealed scope lists an instance or, with `around`, something that would lose it."""
    place = node.sealed_by
    if place is None and around:
        place = sealed_around(node)
    if place is not None:
        raise sealed(place, node.name, what)


def sealed_around(node: Node) -> Place | None:
    """A sealed scope that would lose something if this instance went."""
    seen: dict[Node, None] = {}
    todo = [node]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen[current] = None
            todo.extend(current.dependents)
            todo.extend(current.children)
    return next((place for current in seen if (place := current.sealed_by) is not None), None)
