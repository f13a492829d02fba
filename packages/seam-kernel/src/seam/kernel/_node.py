"""The kernel's own side of an instance."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import anyio
from pydantic import BaseModel

from seam.kernel._errors import ContextInactive, PluginFailed
from seam.kernel._fault import Fault, Phase
from seam.kernel._instance import Instance, State
from seam.kernel._plugin import Plugin
from seam.kernel._seal import refuse_sealed
from seam.kernel._service import Service

if TYPE_CHECKING:
    from seam.kernel._dispatch import Listener
    from seam.kernel._engine import Engine
    from seam.kernel._place import Place
    from seam.kernel._run import Run


class Provision:
    """A service as one instance provides it, and who uses it.

    `open` says whether somebody may start to use it; those who use it are unwound before it goes.
    """

    __slots__ = ("dependents", "implementation", "node", "open", "service", "withdrawn")

    def __init__(self, node: Node, service: type[Service], implementation: Service) -> None:
        self.node = node
        self.service = service
        self.implementation = implementation
        self.dependents: dict[Node, None] = {}
        self.open = False
        self.withdrawn: anyio.Event | None = None


class Node(Instance):
    """An instance with everything that the engine needs to know. A child follows its parent into every scope."""

    def __init__(
        self,
        engine: Engine,
        plugin: Plugin[BaseModel],
        config: BaseModel,
        *,
        name: str,
        distribution: str | None,
        home: Place,
        parent: Node | None,
    ) -> None:
        self._engine = engine
        self._plugin = plugin
        self._config = config
        self._name = name
        self._distribution = distribution
        self._parent = parent
        self.home = home
        self.requires = {service.service_key: service for service in plugin.requires}
        self.optional = {service.service_key: service for service in plugin.optional}
        self.provides = frozenset(service.service_key for service in plugin.provides)
        self.status: State = "pending"
        self.failure: PluginFailed | None = None
        self.final = False
        self.run: Run | None = None
        self.detach: Callable[[], object] | None = None
        self.transition: Place | None = None
        self.own_places: dict[Place, None] = {}
        self.children: dict[Node, None] = {}
        self.holds: dict[object, str] = {}
        self.published = False
        self.provisions: dict[str, Provision] = {}
        self.contributions: dict[object, object] = {}
        self.listeners: dict[object, dict[Listener, None]] = {}
        self.fault_log: deque[Fault] = deque(maxlen=engine.faults.kept)
        self.final_faults: list[Fault] = []
        self.ended = anyio.Event()

    # -- the public face

    @property
    def name(self) -> str:
        return self._name

    @property
    def plugin(self) -> Plugin[BaseModel]:
        return self._plugin

    @property
    def config(self) -> BaseModel:
        return self._config

    @property
    def distribution(self) -> str | None:
        return self._distribution

    @property
    def state(self) -> State:
        return self.status

    @property
    def error(self) -> PluginFailed | None:
        return self.failure

    @property
    def faults(self) -> tuple[Fault, ...]:
        return tuple(self.fault_log)

    @property
    def bindings(self) -> Mapping[str, Instance]:
        return {} if self.run is None else {key: found.node for key, found in self.run.bindings.items()}

    @property
    def missing(self) -> tuple[str, ...]:
        return self._engine.missing(self)

    @property
    def parent(self) -> Node | None:
        return self._parent

    @property
    def holders(self) -> tuple[str, ...]:
        return (*(place.name for place in self.places), *self.holds.values())

    def hold(self, name: str) -> Callable[[], None]:
        if self.final:
            raise ContextInactive(
                f"{self.name!r} is stopping; it cannot be held by {name!r}", plugin=self.name
            )
        token = object()
        self.holds[token] = name

        def release() -> None:
            if self.holds.pop(token, None) is not None:
                self._engine.consider(self)

        return release

    async def stop(self) -> tuple[Fault, ...]:
        if not self.final:
            refuse_sealed(self, "stopped", around=True)
            self._engine.stop([self], final=True)
        await self.ended.wait()
        return tuple(self.final_faults)

    async def wait_stopped(self) -> None:
        await self.ended.wait()

    # -- for the engine

    @property
    def top(self) -> Node:
        """The instance at the head of the family: the one that a scope lists."""
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    @property
    def places(self) -> dict[Place, None]:
        """The scopes that list its family."""
        return self.top.own_places

    @property
    def sealed_by(self) -> Place | None:
        """A sealed scope that lists it and is not being closed."""
        return next((place for place in self.places if place.sealed and not place.closing), None)

    @property
    def dependents(self) -> list[Node]:
        """Instances that use one of its services now."""
        return [node for provision in self.provisions.values() for node in provision.dependents]

    @property
    def in_use(self) -> bool:
        """Whether anybody uses one of its services now."""
        return any(provision.dependents for provision in self.provisions.values())

    def family(self) -> Iterator[Node]:
        """Itself and everything below, in listing order."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def belongs_to(self, other: Node) -> bool:
        """Whether it is `other` or was loaded by it, directly or not."""
        node: Node | None = self
        while node is not None:
            if node is other:
                return True
            node = node.parent
        return False

    def kept(self) -> bool:
        """Whether somebody still needs the family: a scope, a hold, or a dependent outside."""
        if any(not place.closing for place in self.own_places):
            return True
        return any(
            node.holds or any(not user.belongs_to(self) for user in node.dependents) for node in self.family()
        )

    def report(self, phase: Phase, what: str, error: BaseException) -> None:
        """Record a contained failure."""
        fault = Fault(instance=self.name, plugin=self.plugin.name, phase=phase, what=what, error=error)
        self.fault_log.append(fault)
        node: Node | None = self
        while node is not None and node.final:
            node.final_faults.append(fault)
            node = node.parent
        self._engine.faults.record(fault)

    def unpublish(self) -> None:
        """Take back whatever is still registered; nothing is left for anybody to find."""
        self.published = False
        self.provisions.clear()
        self.contributions.clear()
        for listeners in self.listeners.values():
            for listener in listeners:
                listener.live = False
        if self.listeners:
            self.listeners.clear()
            self.forget_listeners()

    def forget_listeners(self) -> None:
        """Have every scope that lists it look for listeners anew."""
        for place in self.places:
            place.forget_listeners()
