"""The runtime behind `tools`: projection in prepare, turns on a lease."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from seam.kernel import Around, Decide, Observe, Service, Value
from seam.tools_def._access import Access, Agent
from seam.tools_def._descriptor import Descriptor
from seam.tools_def._grants import Grants
from seam.tools_def._journal import Journal
from seam.tools_def._permissions import Permissions
from seam.tools_def._ports import ApprovalPort, QuestionPort
from seam.tools_def._services import Registered, SkillEntry
from seam.tools_def._tool import Tool
from seam.tools_def._turns import Turn

P = TypeVar("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Lease(ABC):
    """A hold on one generation. The generation is not disposed while a lease is out."""

    @property
    @abstractmethod
    def generation(self) -> int:
        """Its number."""

    @property
    @abstractmethod
    def live(self) -> bool:
        """Whether new calls may start: False when its drain deadline has passed, it was released, or the host stops."""

    @abstractmethod
    def check(self) -> None:
        """Raise `LeaseInvalid` where `live` is False, saying why."""

    @abstractmethod
    async def release(self) -> None:
        """Give it back; idempotent."""


class Answered(Protocol[R_co]):
    """One listener's answer: a value, or the error that it raised. `plugin` names the listener's plugin."""

    @property
    def plugin(self) -> str: ...
    @property
    def value(self) -> R_co | None: ...
    @property
    def error(self) -> BaseException | None: ...


class Emitter(Protocol):
    """The events of one generation, as the chain needs them (a kernel context, or a fake in tests)."""

    async def observe(self, event: Observe[P], payload: P, /) -> None: ...
    async def decide(self, event: Decide[P, R], payload: P, /) -> Sequence[Answered[R]]: ...
    async def around(
        self, event: Around[P, R], payload: P, innermost: Callable[[P], Awaitable[R]], /
    ) -> R: ...


@dataclass(frozen=True, kw_only=True)
class ToolSource:
    """A contributed tool and where it came from.

    Attributes:
        source: `plugin:<row>` or `file:<path>`.
        owner: `global`, or the agent's name for a row of its realm.
    """

    tool: Tool
    source: str
    owner: str


@dataclass(frozen=True, kw_only=True)
class NoteSource:
    """A note for the prompt that a plugin contributes."""

    text: str
    source: str
    owner: str


@dataclass(frozen=True, kw_only=True)
class ProjectionRequest:
    """Everything that a candidate offers, in listing order.

    Attributes:
        replaced: by agent, the sources that have an instance of their own in the agent's realm: their global offers and notes
            are not the agent's.
        optional: the sources of optional rows: what is wrong with their offers leaves them out instead of rejecting the candidate.
    """

    agents: tuple[Agent, ...]
    tools: tuple[ToolSource, ...]
    services: tuple[Registered, ...] = ()
    notes: tuple[NoteSource, ...] = ()
    replaced: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    optional: frozenset[str] = frozenset()


class ProjectionProblem(Value):
    """One reason to reject, or one thing left out.

    Attributes:
        source: the tool, service or file that it is about; both, where two clash.
        optional: it was left out instead of rejecting the candidate.
    """

    source: str
    problem: str
    optional: bool = False


class Catalogue(ABC):
    """The immutable fold of a generation: what each agent could see, before access filters."""

    @property
    @abstractmethod
    def left_out(self) -> tuple[ProjectionProblem, ...]:
        """Optional providers that are missing, with id and reason."""

    @abstractmethod
    def tools(self, agent: str) -> tuple[Descriptor, ...]:
        """Every descriptor of an agent, hidden ones included, in a stable order."""

    @abstractmethod
    def skills(self, agent: str) -> tuple[SkillEntry, ...]:
        """Every skill of an agent, in a stable order."""

    @abstractmethod
    def digest(self, agent: str) -> str:
        """Digest over the model-facing schemas of an agent."""


@dataclass(frozen=True, kw_only=True)
class TurnOpening:
    """What a turn stands on."""

    turn: str
    agent: Agent
    session: str
    access: Access
    catalogue: Catalogue
    lease: Lease
    journal: Journal
    emitter: Emitter
    grants: Grants
    permissions: Permissions | None
    approval: ApprovalPort | None
    questions: QuestionPort | None


class Tools(Service, key="tools"):
    """Folds a candidate's offers into a catalogue, and opens turns on it."""

    @abstractmethod
    async def project(self, request: ProjectionRequest) -> Catalogue:
        """Read every schema and catalog once, validate, freeze.

        Raises:
            ProjectionRejected: names clash, are illegal or reserved; schemas are invalid; a required provider failed.
        """

    @abstractmethod
    async def open(self, opening: TurnOpening) -> OpenTurn:
        """Open a turn; its first record is durable when this returns.

        Raises:
            LeaseInvalid: the lease is not live or not of this runtime's catalogue.
            TurnFailed: the first record cannot be written.
        """


class OpenTurn(Turn):
    """A turn as its opener holds it. A door sees `Turn` only."""

    __slots__ = ()

    @abstractmethod
    async def close(self, how: str = "ended", reason: str = "") -> None:
        """End it: cancel and settle what runs, write the terminal record, release the lease. Idempotent; the first terminal wins.

        Args:
            how: `ended`, `failed`, `cancelled` or `drained`.
        """
