"""What a plugin registers during one run, and how each thing is taken back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVarTuple

import anyio

from seam.kernel._admission import load
from seam.kernel._dispatch import Listener
from seam.kernel._effects import Disposer, EffectStack, Release
from seam.kernel._errors import (
    ContextInactive,
    DuplicateProvider,
    InvalidDeclaration,
    PluginFailed,
    UndeclaredService,
)
from seam.kernel._event import Event
from seam.kernel._fault import contained
from seam.kernel._instance import Instance
from seam.kernel._node import Provision
from seam.kernel._plugin import ConfigT, Plugin
from seam.kernel._seal import refuse_sealed
from seam.kernel._service import Service

if TYPE_CHECKING:
    from seam.kernel._run import Run

ArgumentsT = TypeVarTuple("ArgumentsT")


class Registrations:
    """Registers effects for one run; refuses as soon as the run is closing, so that an undo cannot add more."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._node = run.node
        self._engine = run.engine
        self.effects = EffectStack()
        self._tasks: dict[anyio.CancelScope, None] = {}

    def provide(self, service: type[Service], implementation: Service) -> Disposer:
        """See `Context.provide`."""
        node, key = self._node, service.service_key
        self._refuse_closing(f"provide {key!r}")
        if service not in node.plugin.provides:
            raise UndeclaredService(
                f"{node.name!r} provides {service.__qualname__} (key {key!r}) without having declared it;"
                " add it to provides",
                plugin=node.name,
                key=key,
            )
        if not isinstance(implementation, service):
            raise InvalidDeclaration(
                f"{node.name!r} provides {key!r} with {type(implementation).__qualname__}, "
                f"which is not a subclass of {service.__qualname__}",
                plugin=node.name,
                key=key,
            )
        if key in node.provisions:
            raise DuplicateProvider(
                f"{node.name!r} provides {key!r} twice; dispose of the first one before",
                key=key,
                first=node.name,
                second=node.name,
            )
        refuse_sealed(node, f"changed (provide {key!r})", around=False)
        found = node.provisions[key] = Provision(node, service, implementation)
        effect = self.effects.push(f"service {key}", partial(self._engine.forget_provision, found))
        if node.published:
            self._engine.open_provision(found)

        async def withdraw() -> None:
            if effect in self.effects:
                refuse_sealed(node, f"changed (withdraw {key!r})", around=True)
                self.effects.remove(effect)
                await self._engine.withdraw(found)

        return withdraw

    def contribute(self, item: object) -> Release:
        """See `Context.contribute`."""
        node = self._node
        self._refuse_closing("contribute")
        refuse_sealed(node, "changed (contribute)", around=False)
        token = object()
        node.contributions[token] = item

        def forget() -> None:
            node.contributions.pop(token, None)

        effect = self.effects.push(f"contribution {type(item).__name__}", forget)

        def release() -> None:
            if effect in self.effects:
                refuse_sealed(node, "changed (take a contribution back)", around=False)
                self.effects.remove(effect)
                forget()

        return release

    def listen(self, event: Event, call: Callable[..., object]) -> Release:
        """See `Context.on`."""
        if not isinstance(event, Event):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
            raise InvalidDeclaration(
                f"{self._node.name!r} listens to {event!r}, which is not an event", event=event
            )
        name = event.name
        self._refuse_closing(f"listen to {name!r}")
        node, listener = self._node, Listener(self._node, call)
        node.listeners.setdefault(event, {})[listener] = None
        if node.published:
            node.forget_listeners()

        def forget() -> None:
            listener.live = False
            if listener in node.listeners.get(event, ()):
                del node.listeners[event][listener]
                node.forget_listeners()

        effect = self.effects.push(f"listener of {name}", forget)

        def release() -> None:
            if self.effects.remove(effect):
                forget()

        return release

    def effect(self, undo: Callable[[], Awaitable[object] | object], name: str | None) -> Disposer:
        """See `Context.effect`."""
        self._refuse_closing("register an effect")
        return self.effects.disposer(self.effects.push(name or _name_of(undo), undo))

    def start_soon(
        self,
        function: Callable[[*ArgumentsT], Awaitable[object]],
        arguments: tuple[*ArgumentsT],
        name: str | None,
    ) -> Disposer:
        """See `Context.start_soon`."""
        self._refuse_closing("start a task")
        name = name or _name_of(function)
        scope, done = anyio.CancelScope(shield=True), anyio.Event()

        async def end() -> None:
            scope.cancel()
            await self._run.wait_for_task(name, done)

        effect = self.effects.push(f"task {name}", end)
        self._tasks[scope] = None

        async def body() -> None:
            try:
                with scope:
                    await function(*arguments)
            except BaseException as error:
                self._crashed(name, error)
            finally:
                self.effects.remove(effect)
                del self._tasks[scope]
                done.set()

        self._engine.spawn(body, f"{self._node.name}: {name}")
        return self.effects.disposer(effect)

    def cancel_tasks(self) -> None:
        """Cancel every task without waiting: the undo that should wait for them is stuck."""
        for scope in self._tasks:
            scope.cancel()

    def _crashed(self, name: str, error: BaseException) -> None:
        if isinstance(error, anyio.get_cancelled_exc_class()):
            # Our own scope keeps our own cancellations: this one came from something that the task awaited.
            failed = PluginFailed(f"task {name!r} was cancelled from outside", plugin=self._node.name)
            failed.__cause__ = error
            error = failed
        elif not contained(error):
            raise error
        self._node.report("task", name, error)

    def load(
        self, plugin: Plugin[ConfigT], config: ConfigT | Mapping[str, object] | None, name: str | None
    ) -> Instance:
        """See `Context.load`."""
        self._refuse_closing(f"load {plugin.name!r}")
        parent = self._node
        child = load(parent.home, plugin, config, name=name, distribution=parent.distribution, parent=parent)

        async def end() -> None:
            self._engine.stop([child], final=True)
            await self._run.wait_for_child(child)

        effect = self.effects.push(f"plugin {child.name}", end)
        child.detach = partial(self.effects.remove, effect)
        return child

    def _refuse_closing(self, what: str) -> None:
        if self._run.closing:
            raise ContextInactive(
                f"{self._node.name!r} is stopping or stopped; it cannot {what}", plugin=self._node.name
            )


def _name_of(function: object) -> str:
    inner: object = function.func if isinstance(function, partial) else function  # pyright: ignore[reportUnknownMemberType]  # a partial of anything
    return getattr(inner, "__qualname__", type(inner).__qualname__)
