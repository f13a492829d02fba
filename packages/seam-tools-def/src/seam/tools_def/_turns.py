"""Turns: the only place where a tool can be called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal

from pydantic import JsonValue

from seam.kernel import FrozenMapping, Service, Value
from seam.tools_def._access import Access, Agent
from seam.tools_def._descriptor import Descriptor
from seam.tools_def._outcome import Outcome
from seam.tools_def._ports import ApprovalPort, QuestionPort
from seam.tools_def._services import SkillDocument, SkillEntry


class Progress(Value):
    """Something to show while a call runs.

    Attributes:
        kind: `progress` (a message, `done` of `total`) or `output` (live text of a stream; not part of the result).
    """

    call: str
    kind: Literal["progress", "output"]
    text: str
    stream: str = ""
    done: float | None = None
    total: float | None = None


ProgressSink = Callable[[Progress], None]
"""Called in the event loop; must return at once. What it raises is recorded and dropped."""


class CallItem(Value):
    """One call of a batch."""

    tool: str
    arguments: JsonValue
    call: str | None = None


class Turn(ABC):
    """One lease on one generation on behalf of one session. Immutable; refuses by name after its end."""

    __slots__ = ()

    @property
    @abstractmethod
    def id(self) -> str:
        """Unique over all turns of a journal."""

    @property
    @abstractmethod
    def generation(self) -> int:
        """The number of the generation that it holds from start to end."""

    @property
    @abstractmethod
    def agent(self) -> Agent:
        """Who acts."""

    @property
    @abstractmethod
    def tools(self) -> tuple[Descriptor, ...]:
        """The tools in view, in a stable order; hidden ones are not among them."""

    @property
    @abstractmethod
    def skills(self) -> tuple[SkillEntry, ...]:
        """The skills in view, in a stable order."""

    @abstractmethod
    async def call(
        self,
        tool: str,
        arguments: JsonValue,
        *,
        call: str | None = None,
        progress: ProgressSink | None = None,
    ) -> Outcome:
        """Call a tool through the whole chain.

        Args:
            tool: its name.
            arguments: JSON; validated before anyone is asked.
            call: id for the record, unique in the turn; made where None.
            progress: told what happens while it runs.

        Raises:
            TurnEnded: the turn is over.
            TurnFailed: the record cannot be kept; nothing ran unrecorded, and the turn is over.
        """

    @abstractmethod
    async def call_many(
        self, calls: Sequence[CallItem], *, progress: ProgressSink | None = None
    ) -> tuple[Outcome, ...]:
        """A batch: parallel-safe calls together, exclusive ones alone, answers in the order asked."""

    @abstractmethod
    async def describe_skill(self, skill: str) -> SkillDocument:
        """A skill in view, whole.

        Raises:
            CallRefusal: not in view.
            CapabilityUnavailable: the provider failed or did not answer in time.
        """

    @abstractmethod
    def instructions(self, *, limit: int | None = None) -> str:
        """Notes of plugins and the skills in view: deterministic, bounded (characters; None means the runtime's configured bound)."""

    @abstractmethod
    async def fail(self, reason: str) -> None:
        """End the turn as failed; the first terminal wins."""


class PublishedTools(Value):
    """What an observer of generations is told; the same for all of them, so none of them can change it."""

    generation: int
    digests: FrozenMapping[str, str]


class TurnGate(Service, key="turns"):
    """Opens turns, always on the published generation. Provided by the host; doors use it."""

    @abstractmethod
    def open(
        self,
        agent: str,
        *,
        session: str,
        access: Access,
        approval: ApprovalPort | None = None,
        questions: QuestionPort | None = None,
        parallel: bool = False,
    ) -> AbstractAsyncContextManager[Turn]:
        """Open a turn. Without an approval port it is unattended: what needs approval is refused.

        Args:
            agent: declared in the deployment.
            session: one conversation; turns of one session are serial unless `parallel`.

        Raises:
            UnknownAgent: not declared.
            AdmissionClosed: nothing is published or the host is stopping.
        """

    @abstractmethod
    async def end_session(self, agent: str, session: str) -> None:
        """The conversation is over: its grants end, its jobs end."""

    @abstractmethod
    def agents(self) -> tuple[Agent, ...]:
        """The declared agents of the published generation."""

    @abstractmethod
    def subscribe(self, observer: Callable[[PublishedTools], None]) -> Callable[[], None]:
        """Be told after each publish; returns an idempotent disposer. An observer can neither change nor block it."""
