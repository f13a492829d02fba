"""Turns a scope into data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seam.kernel._facts import InstanceFacts, ScopeFacts, ServiceFacts
from seam.kernel._node import Node

if TYPE_CHECKING:
    from seam.kernel._place import Place


def describe(place: Place) -> ScopeFacts:
    """A scope and everything below it."""
    return ScopeFacts(
        name=place.name,
        sealed=place.sealed,
        isolate=tuple(sorted(place.isolate)),
        services=tuple(
            ServiceFacts(
                key=key,
                provider=node.name,
                service=f"{found.service.__module__}.{found.service.__qualname__}",
            )
            for node in place.nodes()
            for key, found in node.provisions.items()
            if found.open
        ),
        instances=tuple(_describe(row) for row in place.rows),
        children=tuple(describe(below) for below in place.below),
    )


def _describe(node: Node) -> InstanceFacts:
    return InstanceFacts(
        name=node.name,
        plugin=node.plugin.name,
        module=node.plugin.module,
        distribution=node.distribution,
        state=node.status,
        requires=tuple(node.requires),
        optional=tuple(node.optional),
        provides=tuple(sorted(node.provides)),
        uses={key: used.name for key, used in node.bindings.items()},
        missing=node.missing,
        error=None if node.failure is None else str(node.failure),
        faults=len(node.fault_log),
        holders=node.holders,
        children=tuple(_describe(child) for child in node.children),
    )
