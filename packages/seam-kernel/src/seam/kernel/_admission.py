"""What may come into a scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel

from seam.kernel._errors import ContextInactive, InvalidDeclaration, ScopeUnsettled
from seam.kernel._instance import Instance
from seam.kernel._node import Node
from seam.kernel._plugin import ConfigT, Plugin
from seam.kernel._seal import sealed

if TYPE_CHECKING:
    from seam.kernel._place import Place


def load(
    place: Place,
    plugin: Plugin[ConfigT],
    config: ConfigT | Mapping[str, object] | None,
    *,
    name: str | None,
    distribution: str | None,
    parent: Node | None,
) -> Node:
    """List a plugin in a scope, or, with a parent, in every scope that lists the parent."""
    engine = place.engine
    places = [place] if parent is None else list(parent.places)
    if not engine.running:
        raise ContextInactive(
            f"the kernel is not running; load {plugin.name!r} inside 'async with Kernel()'",
            plugin=plugin.name,
        )
    configured = plugin.configure(config)
    named = name or place.free_name(plugin.name)
    keys = frozenset(service.service_key for service in plugin.provides)
    for each in places:
        each.refuse_closing(f"load {named!r}")
        if each.sealed:
            raise sealed(each, named, "loaded")
        each.check_room(named, keys, named)
    node = Node(
        engine,
        cast("Plugin[BaseModel]", plugin),
        configured,
        name=named,
        distribution=distribution,
        home=place,
        parent=parent,
    )
    if parent is None:
        node.own_places[place] = None
        place.rows[node] = None
    else:
        parent.children[node] = None
    for each in places:
        each.enter(node)
    engine.register(node)
    return node


def adopt(place: Place, instance: Instance) -> None:
    """List a running family in one more scope."""
    if not isinstance(instance, Node) or instance not in place.engine.nodes:
        raise ContextInactive(f"{instance.name!r} is not an instance of this kernel, or was stopped")
    if place in instance.places:
        return
    if instance.parent is not None:
        raise InvalidDeclaration(
            f"{instance.name!r} was loaded by {instance.parent.name!r}; adopt that one, what it loaded follows",
            instance=instance.name,
        )
    place.refuse_closing(f"adopt {instance.name!r}")
    if place.sealed:
        raise sealed(place, instance.name, "adopted")
    if instance.status != "active" or instance.final:
        raise ContextInactive(
            f"{instance.name!r} is {instance.status}; only an active instance can be adopted",
            plugin=instance.name,
        )
    family = list(instance.family())
    for node in family:
        place.check_room(node.name, node.provides, node.name)
    instance.own_places[place] = None
    place.rows[instance] = None
    for node in family:
        place.enter(node)
        place.engine.agenda.touch(node.provides)


def seal(place: Place) -> None:
    """Publish a scope and everything below it."""
    moving = [
        node.name
        for each in place.subtree()
        for node in each.nodes()
        if node.transition is not None or place.engine.agenda.is_due(node)
    ]
    if moving:
        raise ScopeUnsettled(
            f"scope {place.name!r} is not settled: {', '.join(moving)}; await settle() before seal()",
            context=place.name,
            instances=moving,
        )
    for each in place.subtree():
        each.locked = True
