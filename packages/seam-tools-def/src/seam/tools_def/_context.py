"""What a tool is given beside its arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from seam.tools_def._access import Access, Agent, Owner
from seam.tools_def._errors import CallRefusal
from seam.tools_def._outcome import Content
from seam.tools_def._ports import QuestionPort

if TYPE_CHECKING:
    from seam.tools_def._services import SkillDocument, SkillEntry


class CallContext(ABC):
    """One call's surroundings. Valid during that call only; using it later raises `TurnEnded`."""

    __slots__ = ()

    @property
    @abstractmethod
    def turn(self) -> str:
        """Id of the turn."""

    @property
    @abstractmethod
    def call(self) -> str:
        """Id of the call, unique in its turn."""

    @property
    @abstractmethod
    def agent(self) -> Agent:
        """Who acts."""

    @property
    @abstractmethod
    def owner(self) -> Owner:
        """Whose a job or terminal that this call starts will be."""

    @property
    @abstractmethod
    def access(self) -> Access:
        """Who stands behind the session, and from where."""

    @property
    @abstractmethod
    def questions(self) -> QuestionPort | None:
        """Where a person can be asked, or None when nobody is there."""

    @property
    def skills(self) -> tuple[SkillEntry, ...]:
        """The skills in view of this call's turn, in a stable order; a context without a turn behind it has none."""
        return ()

    async def describe_skill(self, skill: str) -> SkillDocument:
        """A skill in view, whole, as `Turn.describe_skill`.

        Raises:
            CallRefusal: not in view.
            CapabilityUnavailable: the provider failed or did not answer in time.
        """
        raise CallRefusal("visibility", f"there is no skill {skill!r} in view", skill=skill)

    @abstractmethod
    def progress(self, message: str, *, done: float | None = None, total: float | None = None) -> None:
        """Report progress. Returns at once; never fails the call. `done` of `total` in any unit, both optional."""

    @abstractmethod
    def output(self, text: str, *, stream: str = "stdout") -> None:
        """Hand on a piece of live output as it arrives, for a person who watches. Never part of the result."""

    @abstractmethod
    def keep(self, value: JsonValue, content: Sequence[Content]) -> None:
        """Leave what is there so far: it goes into the outcome when the call is cancelled. A later call replaces it."""
