"""The place where services live: the root, a generation, a realm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from seam.kernel._event import Answer, AnswerT, Around, Decide, Next, Observe, PayloadT
from seam.kernel._plugin import ConfigT, Plugin
from seam.kernel._service import Service

if TYPE_CHECKING:
    from seam.kernel._facts import ScopeFacts
    from seam.kernel._fault import Fault
    from seam.kernel._instance import Instance
    from seam.kernel._problem import Problem

ServiceT = TypeVar("ServiceT", bound=Service)
ItemT = TypeVar("ItemT")


class Scope(ABC):
    """A context as a place: one claimant per key, keys resolve here first and then upward.

    Scopes are made by `Kernel` (the root) and by `child`; plugins see a `Context`, never a scope.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """For people."""

    @property
    @abstractmethod
    def parent(self) -> Scope | None:
        """Where keys resolve next; `None` for the root."""

    @property
    @abstractmethod
    def children(self) -> tuple[Scope, ...]:
        """Open child scopes, in the order they were made."""

    @property
    @abstractmethod
    def instances(self) -> tuple[Instance, ...]:
        """Everything listed here, in listing order; each one is followed by what it loaded itself."""

    @property
    @abstractmethod
    def sealed(self) -> bool:
        """Whether nothing may be added or taken away any more."""

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether `aclose` has finished."""

    @abstractmethod
    def load(
        self,
        plugin: Plugin[ConfigT],
        config: ConfigT | Mapping[str, object] | None = None,
        *,
        name: str | None = None,
        distribution: str | None = None,
    ) -> Instance:
        """List a plugin here; it starts as soon as its requirements are there. Returns at once.

        Ephemeral: the listing lasts until the scope closes, and no other kernel or process ever knows of it. What shall
        be there after a restart is written where the restart reads it, in a deployment.

        Args:
            plugin: the declaration.
            config: an instance of its model, or a mapping to validate.
            name: the instance's name, by default the plugin's (with `#2`, `#3` where that is taken).
            distribution: where it came from; kept for diagnosis.

        Raises:
            InvalidConfig: the configuration does not validate.
            DuplicateProvider: another instance listed here claims one of its keys.
            DuplicateInstance: the name is given and taken.
            ContextSealed: the scope is sealed.
            ContextInactive: the scope is closing or closed, or the kernel is not running.
        """

    @abstractmethod
    def adopt(self, instance: Instance) -> None:
        """List an active instance of another scope here too, with everything it loaded itself.

        Its services, contributions and listeners count here as well. It is disposed when the last scope and the
        last `hold` let it go. `problems` names it as divergent if this scope would give it another provider.

        Raises:
            DuplicateProvider, DuplicateInstance, ContextSealed: as for `load`.
            ContextInactive: the instance is not active, or the scope is closing.
        """

    @abstractmethod
    def child(self, name: str, *, isolate: frozenset[str] = frozenset()) -> Scope:
        """Open a scope below this one. The keys in `isolate` do not resolve above it: a realm.

        Raises:
            ContextInactive: this scope is closing or closed.
        """

    @abstractmethod
    def seal(self) -> None:
        """Publish: from now on nothing is loaded, provided, withdrawn or contributed here or in its children.

        A failure after this is recorded and nothing is unwound. Closing still works.

        Raises:
            ScopeUnsettled: something here is still starting or stopping; await `settle` first.
        """

    @abstractmethod
    async def settle(self) -> None:
        """Return when nothing here, above or below is starting or stopping; what can start has started."""

    @abstractmethod
    async def aclose(self) -> tuple[Fault, ...]:
        """Close children, then let go of every instance: dependents before providers, sealed or not.

        Idempotent. Returns when nothing that this scope alone held is running, with what failed on the way;
        instances that are held elsewhere live on. A call that is cancelled does not interrupt the closing.
        """

    @abstractmethod
    def get(self, service: type[ServiceT]) -> ServiceT | None:
        """The service that a plugin listed here would get now, or `None`. For the owner of the scope, not for plugins."""

    @abstractmethod
    def contributions(
        self, kind: type[ItemT], *, parents: bool = False
    ) -> tuple[tuple[Instance, ItemT], ...]:
        """What active instances contributed, in listing order; with `parents`, the scopes above come first."""

    @abstractmethod
    async def observe(self, event: Observe[PayloadT], payload: PayloadT) -> None:
        """Tell every listener of this scope and its parents, parents first, one after the other.

        Errors are contained and go to the kernel's sink; a slow listener makes the caller wait.
        """

    @abstractmethod
    async def decide(self, event: Decide[PayloadT, AnswerT], payload: PayloadT) -> list[Answer[AnswerT]]:
        """Ask every listener; one answer each, in order. An exception is an answer with `error`."""

    @abstractmethod
    async def around(
        self, event: Around[PayloadT, AnswerT], payload: PayloadT, innermost: Next[PayloadT, AnswerT]
    ) -> AnswerT:
        """Call `innermost` inside every listener; the first listed is outermost.

        A listener may call `next` several times and may pass on another payload. What it raises goes to the caller.

        Raises:
            MiddlewareSkipped: a listener returned without ever calling `next`.
        """

    @abstractmethod
    def problems(self) -> tuple[Problem, ...]:
        """What keeps this scope and its children from being complete; meaningful after `settle`."""

    @abstractmethod
    def describe(self) -> ScopeFacts:
        """The whole tree below as frozen data, for tools."""
