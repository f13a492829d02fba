"""Typed events in three modes. Events are values; a definition owns them, anybody in scope may listen."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from seam.kernel._errors import InvalidDeclaration

if TYPE_CHECKING:
    from seam.kernel._instance import Instance

PayloadT = TypeVar("PayloadT")
AnswerT = TypeVar("AnswerT")

Next: TypeAlias = Callable[[PayloadT], Awaitable[AnswerT]]
"""What a listener of an `Around` event calls to go one step further in."""

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\Z")


# Events are told apart by identity, not by name: two definitions may use one name, and a lookup by identity is fast.
@dataclass(frozen=True, eq=False)
class Event:
    """What the three modes share."""

    name: str
    """Lower-case identifiers joined by dots, for people: `tools.before_call`."""

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise InvalidDeclaration(
                f"event name {self.name!r} is not made of lower-case identifiers joined by dots",
                event=self.name,
            )


@dataclass(frozen=True, eq=False)
class Observe(Event, Generic[PayloadT]):
    """Something happened. Listeners are told one after the other; their errors are contained and reported."""


@dataclass(frozen=True, eq=False)
class Decide(Event, Generic[PayloadT, AnswerT]):
    """A question. Every listener answers, in listing order; a listener that raises is an answer with an error."""


@dataclass(frozen=True, eq=False)
class Around(Event, Generic[PayloadT, AnswerT]):
    """Middleware. Listeners are nested in listing order around the innermost step and must call `next`."""


@dataclass(frozen=True)
class Answer(Generic[AnswerT]):
    """What one listener of a `Decide` event answered.

    Attributes:
        instance: the plugin instance that answered.
        value: its answer, or `None` when it raised.
        error: what it raised, or `None`.
    """

    instance: Instance
    value: AnswerT | None
    error: BaseException | None = None

    @property
    def plugin(self) -> str:
        """Name of the plugin that answered."""
        return self.instance.plugin.name

    def unwrap(self) -> AnswerT:
        """The answer; raises what the listener raised."""
        if self.error is not None:
            raise self.error
        return self.value  # pyright: ignore[reportReturnType]  # without an error the value is the listener's own
