"""The kernel's own side of a scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import anyio

from seam.kernel._admission import adopt, load, seal
from seam.kernel._closing import begin_close
from seam.kernel._diagnosis import find_problems
from seam.kernel._dispatch import Emitter, Listener
from seam.kernel._errors import ContextInactive, DuplicateInstance, DuplicateProvider
from seam.kernel._facts import ScopeFacts
from seam.kernel._fault import Fault
from seam.kernel._instance import Instance
from seam.kernel._inventory import describe
from seam.kernel._node import Node
from seam.kernel._plugin import ConfigT, Plugin
from seam.kernel._problem import Problem
from seam.kernel._resolve import offered
from seam.kernel._scope import ItemT, Scope, ServiceT

if TYPE_CHECKING:
    from seam.kernel._engine import Engine


class Place(Emitter, Scope):
    """A scope with everything that the engine needs to know."""

    def __init__(self, engine: Engine, name: str, parent: Place | None, isolate: frozenset[str]) -> None:
        self.engine = engine
        self._name = name
        self._parent = parent
        self.isolate = isolate
        self.below: dict[Place, None] = {}
        self.rows: dict[Node, None] = {}
        self._claims: dict[str, dict[Node, None]] = {}
        self.names: dict[str, Node] = {}
        self.locked = False
        self.closing = False
        self.closing_by_itself = False
        self.gone = anyio.Event()
        self.closing_faults: list[Fault] = []
        self.busy = 0
        self._listeners: dict[object, tuple[Listener, ...]] = {}

    # -- the public face (events: see Emitter)

    @property
    def name(self) -> str:
        return self._name

    @property
    def parent(self) -> Place | None:
        return self._parent

    @property
    def children(self) -> tuple[Scope, ...]:
        return tuple(self.below)

    @property
    def instances(self) -> tuple[Instance, ...]:
        return tuple(self.nodes())

    @property
    def sealed(self) -> bool:
        return self.locked

    @property
    def closed(self) -> bool:
        return self.gone.is_set()

    def load(
        self,
        plugin: Plugin[ConfigT],
        config: ConfigT | Mapping[str, object] | None = None,
        *,
        name: str | None = None,
        distribution: str | None = None,
    ) -> Instance:
        return load(self, plugin, config, name=name, distribution=distribution, parent=None)

    def adopt(self, instance: Instance) -> None:
        adopt(self, instance)

    def child(self, name: str, *, isolate: frozenset[str] = frozenset()) -> Scope:
        self.refuse_closing(f"open {name!r}")
        place = Place(self.engine, name, self, isolate)
        self.below[place] = None
        return place

    def seal(self) -> None:
        seal(self)

    async def settle(self) -> None:
        await self.engine.agenda.settle(self)

    async def aclose(self) -> tuple[Fault, ...]:
        begin_close(self)
        await self.gone.wait()
        return tuple(self.closing_faults)

    def get(self, service: type[ServiceT]) -> ServiceT | None:
        key = service.service_key
        place: Place | None = self
        while place is not None:
            claim = place.claim(key)
            if claim is not None:
                found = offered(claim, key)
                implementation = None if found is None else found.implementation
                return implementation if isinstance(implementation, service) else None
            place = None if key in place.isolate else place.parent
        return None

    def contributions(
        self, kind: type[ItemT], *, parents: bool = False
    ) -> tuple[tuple[Instance, ItemT], ...]:
        places = self.lineage() if parents else [self]
        listed = dict.fromkeys(node for place in places for node in place.nodes() if node.published)
        return tuple(
            (node, item) for node in listed for item in node.contributions.values() if isinstance(item, kind)
        )

    def problems(self) -> tuple[Problem, ...]:
        return find_problems(self)

    def describe(self) -> ScopeFacts:
        return describe(self)

    # -- for the engine

    def claim(self, key: str) -> Node | None:
        """Who claims a key here: the latest one; those before it have failed."""
        claims = self._claims.get(key)
        return next(reversed(claims)) if claims else None

    def nodes(self) -> Iterator[Node]:
        """Everything listed here, each family together."""
        for row in tuple(self.rows):
            yield from row.family()

    def lineage(self) -> list[Place]:
        """The root first, this one last."""
        found: list[Place] = [self]
        while (above := found[-1].parent) is not None:
            found.append(above)
        return found[::-1]

    def subtree(self) -> Iterator[Place]:
        """This one and everything below."""
        stack: list[Place] = [self]
        while stack:
            place = stack.pop()
            yield place
            stack.extend(reversed(place.below))

    def calm(self) -> bool:
        """Whether nothing here or above is starting or stopping."""
        return not any(place.busy for place in self.lineage())

    def listeners(self, event: object) -> tuple[Listener, ...]:
        found = self._listeners.get(event)
        if found is None:
            found = self._listeners[event] = tuple(
                dict.fromkeys(
                    listener
                    for place in self.lineage()
                    for node in place.nodes()
                    if node.published
                    for listener in node.listeners.get(event, ())
                )
            )
        return found

    def forget_listeners(self) -> None:
        """Look for listeners anew, here and below."""
        for place in self.subtree():
            place._listeners.clear()

    def refuse_closing(self, what: str) -> None:
        """Raise if nothing new may come here."""
        if self.closing:
            raise ContextInactive(
                f"scope {self.name!r} is closing or closed; it cannot {what}", context=self.name
            )

    def check_room(self, node_name: str | None, keys: frozenset[str], newcomer: str) -> None:
        """Raise if a name or a key is taken here. A failed instance does not hold its keys."""
        for key in sorted(keys):
            first = self.claim(key)
            if first is not None and (first.status != "failed" or first.run is not None):
                raise DuplicateProvider(
                    f"{first.name!r} and {newcomer!r} both provide {key!r} in {self.name!r}; keep one of them",
                    key=key,
                    first=first.name,
                    second=newcomer,
                    context=self.name,
                )
        if node_name in self.names:
            raise DuplicateInstance(
                f"{self.name!r} already lists an instance named {node_name!r}; stop it first or choose another name",
                context=self.name,
                instance=node_name,
            )

    def free_name(self, wanted: str) -> str:
        """The wanted name, or the first numbered one that is not taken."""
        name, number = wanted, 1
        while name in self.names:
            number += 1
            name = f"{wanted}#{number}"
        return name

    def enter(self, node: Node) -> None:
        """Register a member of a family that is listed here."""
        self.names[node.name] = node
        for key in node.provides:
            self._claims.setdefault(key, {})[node] = None
        if node.listeners:
            self.forget_listeners()

    def leave(self, node: Node) -> None:
        """Forget a member of a family."""
        if self.names.get(node.name) is node:
            del self.names[node.name]
        for key in node.provides:
            self._claims[key].pop(node, None)
        if node.listeners:
            self.forget_listeners()
