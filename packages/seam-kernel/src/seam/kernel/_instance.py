"""What can be known about, and done to, a loaded plugin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import BaseModel

if TYPE_CHECKING:
    from seam.kernel._errors import PluginFailed
    from seam.kernel._fault import Fault
    from seam.kernel._plugin import Plugin

State: TypeAlias = Literal["pending", "starting", "active", "stopping", "stopped", "failed"]
"""pending: a requirement is missing or awaited. failed: it raised, and stays so until it is stopped and loaded anew."""


class Instance(ABC):
    """A plugin that was loaded into a scope."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in its scope; the row's name where a deployment loaded it."""

    @property
    @abstractmethod
    def plugin(self) -> Plugin[BaseModel]:
        """The declaration that it runs."""

    @property
    @abstractmethod
    def config(self) -> BaseModel:
        """Its validated configuration."""

    @property
    @abstractmethod
    def distribution(self) -> str | None:
        """The distribution that it came from, where the one who loaded it said so."""

    @property
    @abstractmethod
    def state(self) -> State:
        """Its state at this moment."""

    @property
    @abstractmethod
    def error(self) -> PluginFailed | None:
        """Why it failed, with the cause; kept after it was stopped."""

    @property
    @abstractmethod
    def faults(self) -> tuple[Fault, ...]:
        """Its latest contained failures, oldest first (bounded by the kernel's `faults_kept`)."""

    @property
    @abstractmethod
    def bindings(self) -> Mapping[str, Instance]:
        """Which instance gives it each key while it runs; an optional key that nobody gave is absent."""

    @property
    @abstractmethod
    def missing(self) -> tuple[str, ...]:
        """Required keys that nobody provides to it now; empty unless it is pending."""

    @property
    @abstractmethod
    def parent(self) -> Instance | None:
        """The instance that loaded it with `ctx.load`, if one did."""

    @property
    @abstractmethod
    def holders(self) -> tuple[str, ...]:
        """Who keeps it: the scopes that list it, then the names given to `hold`."""

    @abstractmethod
    def hold(self, name: str) -> Callable[[], None]:
        """Keep it, and everything it requires, beyond the scopes that list it: a running job, an open terminal.

        Returns an idempotent release. The kernel's own end does not wait for holders.

        Raises:
            ContextInactive: it is stopping or stopped for good.
        """

    @abstractmethod
    async def stop(self) -> tuple[Fault, ...]:
        """Stop it for good, whoever holds it: dependents are unwound first and wait for another provider.

        Idempotent; returns when it is gone, with what failed on the way. A call that is cancelled does not
        interrupt the stop.

        Raises:
            ContextSealed: a sealed scope lists it, or lists something that depends on it.
        """

    @abstractmethod
    async def wait_stopped(self) -> None:
        """Return when it has been stopped for good, by whomever."""
