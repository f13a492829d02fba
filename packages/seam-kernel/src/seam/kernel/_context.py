"""What a plugin gets: its own view of the scope it was loaded into."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple, overload

from seam.kernel._effects import Disposer, Release
from seam.kernel._event import Answer, AnswerT, Around, Decide, Event, Next, Observe, PayloadT
from seam.kernel._plugin import ConfigT, Plugin
from seam.kernel._service import Service

if TYPE_CHECKING:
    from seam.kernel._instance import Instance
    from seam.kernel._run import Run

ServiceT = TypeVar("ServiceT", bound=Service)
ArgumentsT = TypeVarTuple("ArgumentsT")


class Context:
    """A plugin's view: the services it declared, and the effects it registers.

    What a plugin registers in its set-up takes hold in one step when the set-up is complete; at the stop it is
    undone in reverse order, before the code after `yield` runs. A context belongs to one run: when its plugin was
    stopped it stays inactive for ever, and a restarted plugin gets a new one.

    Every method raises `ContextInactive` when the plugin has stopped; those that register something raise it as
    soon as the plugin is stopping.
    """

    __slots__ = ("_registrations", "_run", "_services", "_views")

    def __init__(self, run: Run) -> None:
        self._run = run
        self._registrations = run.registrations
        self._services = run.services
        self._views = run.views

    @property
    def instance(self) -> Instance:
        """The instance that this context belongs to."""
        return self._run.node

    @property
    def name(self) -> str:
        """The instance's name: the row's name where a deployment loaded it."""
        return self._run.node.name

    def __getitem__(self, service: type[ServiceT]) -> ServiceT:
        """The service that this plugin declared under `requires` (or an optional one that is there).

        Raises:
            UndeclaredService: the plugin did not declare it.
            ServiceUnavailable: it is optional and nobody provides it.
            ContextInactive: the plugin was stopped.
        """
        try:
            return self._services[service]  # pyright: ignore[reportReturnType]  # bound by class; a cast costs a call
        except KeyError:
            raise self._run.explain(service) from None

    def get(self, service: type[ServiceT]) -> ServiceT | None:
        """A declared service, or `None` where it is optional and nobody provides it.

        Raises:
            UndeclaredService: the plugin did not declare it.
            ContextInactive: the plugin was stopped.
        """
        try:
            return self._views[service]  # pyright: ignore[reportReturnType]  # as above
        except KeyError:
            raise self._run.explain(service) from None

    def provide(self, service: type[ServiceT], implementation: ServiceT) -> Disposer:
        """Provide a declared service to the scope. Disposing unwinds dependents first, then withdraws it.

        Raises:
            UndeclaredService: the plugin did not declare it under `provides`.
            DuplicateProvider: this plugin provides the key already.
            InvalidDeclaration: the object is not an instance of the class.
            ContextSealed: the scope is sealed.
        """
        return self._registrations.provide(service, implementation)

    def contribute(self, item: object) -> Release:
        """Offer something to the scope: a tool, a skill, a note. The kernel does not look at it.

        Raises:
            ContextSealed: the scope is sealed; also raised by the release.
        """
        return self._registrations.contribute(item)

    @overload
    def on(
        self, event: Observe[PayloadT], listener: Callable[[PayloadT], Awaitable[None] | None]
    ) -> Release: ...
    @overload
    def on(
        self, event: Decide[PayloadT, AnswerT], listener: Callable[[PayloadT], Awaitable[AnswerT] | AnswerT]
    ) -> Release: ...
    @overload
    def on(
        self,
        event: Around[PayloadT, AnswerT],
        listener: Callable[[PayloadT, Next[PayloadT, AnswerT]], Awaitable[AnswerT]],
    ) -> Release: ...
    def on(self, event: Event, listener: Callable[..., object]) -> Release:
        """Listen to an event emitted in this scope or below. A listener runs in the task of the one who emits."""
        return self._registrations.listen(event, listener)

    def effect(self, undo: Callable[[], Awaitable[object] | object], name: str | None = None) -> Disposer:
        """Have something undone at the stop. Disposing undoes it now, once, and raises what it raises."""
        return self._registrations.effect(undo, name)

    def start_soon(
        self,
        function: Callable[[*ArgumentsT], Awaitable[object]],
        *arguments: *ArgumentsT,
        name: str | None = None,
    ) -> Disposer:
        """Run a task that this plugin owns. A crash is recorded; the plugin and the host live on.

        It is cancelled, and waited for, in its place among the effects, or by the disposer.
        """
        return self._registrations.start_soon(function, arguments, name)

    def load(
        self,
        plugin: Plugin[ConfigT],
        config: ConfigT | Mapping[str, object] | None = None,
        *,
        name: str | None = None,
    ) -> Instance:
        """Load a plugin into this scope as a child: it is stopped with this plugin at the latest.

        `await instance.stop()` disposes of the child alone. Raises as `Scope.load`.
        """
        return self._registrations.load(plugin, config, name)

    def hold(self, name: str) -> Release:
        """Keep this instance, and what it requires, alive: see `Instance.hold`."""
        return self._run.node.hold(name)

    async def observe(self, event: Observe[PayloadT], payload: PayloadT) -> None:
        """Tell the listeners of every scope that lists this instance, each once: see `Scope.observe`."""
        await self._run.emitter().observe(event, payload)

    async def decide(self, event: Decide[PayloadT, AnswerT], payload: PayloadT) -> list[Answer[AnswerT]]:
        """Ask the listeners of every scope that lists this instance, each once: see `Scope.decide`."""
        return await self._run.emitter().decide(event, payload)

    async def around(
        self, event: Around[PayloadT, AnswerT], payload: PayloadT, innermost: Next[PayloadT, AnswerT]
    ) -> AnswerT:
        """Call `innermost` inside the listeners of every scope that lists this instance: see `Scope.around`."""
        return await self._run.emitter().around(event, payload, innermost)
