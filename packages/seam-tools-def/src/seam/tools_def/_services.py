"""Tools and skills from outside: services of the integration."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from pydantic import JsonValue

from seam.kernel import Service
from seam.tools_def._context import CallContext
from seam.tools_def._effects import Concurrency, Effects, RequiresApproval, Visibility
from seam.tools_def._json import Value
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
    deadline: float | None = None
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
        """Called in prepare, before `schema`."""

    async def stop(self) -> None:  # noqa: B027 - optional by contract
        """Called when the last generation that holds it is disposed."""


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
        """Called in prepare, before `catalog`."""

    async def stop(self) -> None:  # noqa: B027 - optional by contract
        """Called when the last generation that holds it is disposed."""


class SeamIntegration(Service, key="integration"):
    """Registers whole services from outside. It has no way to execute anything."""

    @abstractmethod
    def register_tool_service(self, owner: str, service: ToolService) -> Callable[[], None]:
        """Register for `global` or an agent; returns an idempotent disposer of this very registration.

        Raises:
            DuplicateRegistration: the id is taken for this owner.
            RegistrationSealed: the generation is published.
            InvalidTool: the object is not a ToolService or has no id.
        """

    @abstractmethod
    def register_skill_service(self, owner: str, service: SkillService) -> Callable[[], None]:
        """As `register_tool_service`, for skills."""
