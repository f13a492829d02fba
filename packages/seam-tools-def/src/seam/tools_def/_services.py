"""Tools and skills from outside: services of the integration."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from seam.kernel import Context, Service, Value
from seam.tools_def._context import CallContext
from seam.tools_def._effects import Concurrency, Deadline, Effects, RequiresApproval, Visibility
from seam.tools_def._outcome import Outcome
from seam.tools_def._resolved import Resolution

GLOBAL = "global"
"""The owner of what every agent sees."""


class ToolSchema(Value):
    """One tool of a tool service, as the service states it. Undeclared approval means `on-risk`; effects are unknown unless declared
    and the service is trusted."""

    name: str
    description: str
    parameters: JsonValue
    output: JsonValue = None
    effects: Effects | None = None
    requires_approval: RequiresApproval | None = None
    visibility: Visibility = Visibility()
    concurrency: Concurrency = "exclusive"
    deadline: Deadline | None = None
    notes: tuple[str, ...] = ()


class ToolService(ABC):
    """A provider of tools. Its schema is read once, in prepare; what it answers later changes nothing in that generation.

    Attributes:
        id: unique per owner.
        description: for a person.
        trusted: whether its declared effects are believed (set from the row's `trusted = true`).
        optional: whether a failing projection leaves it out instead of rejecting the candidate.
        deadline: seconds that a call of any of its tools may take; None means the runtime's.
    """

    id: str
    description: str
    trusted: bool = False
    optional: bool = False
    deadline: float | None = None

    @abstractmethod
    async def schema(self, owner: str) -> Sequence[ToolSchema]:
        """The tools for an owner (`global` or an agent's name)."""

    @abstractmethod
    async def execute(self, owner: str, name: str, input: JsonValue, context: CallContext) -> Outcome:  # noqa: A002 - a word of the contract
        """Run a tool. Typed outcomes are kept as they are; an exception becomes a failed one."""

    async def resolve(self, owner: str, name: str, input: JsonValue, context: CallContext) -> Resolution:  # noqa: A002
        """Say what would happen; without an own one, the tool resolves to its arguments."""
        return Resolution()

    async def available(self) -> str | None:
        """None when it can be called now, else the reason why not; asked before each call."""
        return None

    async def start(self) -> None:  # noqa: B027 - optional by contract
        """Called in prepare, once, before `schema`."""

    async def stop(self) -> None:  # noqa: B027 - optional by contract
        """Called when the last generation that holds it is disposed, in the task that ran `start`."""


class SkillEntry(Value):
    """One line of a catalog.

    Attributes:
        id: unique for every agent, shares the name space of tools.
        name: for a person.
        description: when to use it; for the model.
        visibility: as for tools.
    """

    id: str
    name: str
    description: str
    visibility: Visibility = Visibility()


class SkillDocument(Value):
    """A skill's text. Documents, never callable."""

    id: str
    text: str
    resources: tuple[str, ...] = ()


class SkillService(ABC):
    """A provider of skills. The catalog is read once, in prepare; a description on demand, and the first is kept for the generation."""

    id: str
    description: str
    optional: bool = False
    deadline: float | None = None

    @abstractmethod
    async def catalog(self, owner: str) -> Sequence[SkillEntry]:
        """The skills for an owner."""

    @abstractmethod
    async def describe(self, owner: str, skill_id: str) -> SkillDocument:
        """One skill, whole."""

    async def start(self) -> None:  # noqa: B027 - optional by contract
        """Called in prepare, once, before `catalog`."""

    async def stop(self) -> None:  # noqa: B027 - optional by contract
        """Called when the last generation that holds it is disposed, in the task that ran `start`."""


class ServiceLife(ABC):
    """The start and stop of a registered service, both in one task that its plugin owns."""

    @abstractmethod
    async def start(self) -> None:
        """Have the service started and wait for it; once, however often it is asked.

        Raises:
            Exception: what the service's `start` raised, each time.
        """


@dataclass(frozen=True, kw_only=True)
class Registered:
    """A registered service, as the contribution of the plugin that registered it.

    Attributes:
        service: the provider.
        owner: `global` or an agent's name.
        source: `plugin:<row>` of the plugin that registered it.
        life: starts it in prepare; stopped with the plugin.
    """

    service: ToolService | SkillService
    owner: str
    source: str
    life: ServiceLife


class SeamIntegration(Service, key="integration"):
    """Registers whole services from outside. It has no way to execute anything.

    A registration is a contribution of the plugin whose context is given: it comes and goes with that plugin, is carried
    over with it, and belongs to every generation that lists it. The integration itself remembers nothing.
    """

    @abstractmethod
    def register_tool_service(self, owner: str, service: ToolService, *, ctx: Context) -> Callable[[], None]:
        """Register for `global` or an agent; returns an idempotent disposer of this very registration.

        Args:
            owner: `global`, or the name of an agent.
            service: the provider; its `start` runs in prepare, its `stop` when the plugin stops or the disposer is called.
            ctx: the registering plugin's own context.

        Raises:
            DuplicateRegistration: this plugin has registered the id for this owner. (Another plugin's registration of the
                same id rejects the candidate in the projection, naming both.)
            RegistrationSealed: the generation is published; raised by the disposer too.
            InvalidTool: the object is not a ToolService or has no id.
        """

    @abstractmethod
    def register_skill_service(
        self, owner: str, service: SkillService, *, ctx: Context
    ) -> Callable[[], None]:
        """As `register_tool_service`, for skills."""
