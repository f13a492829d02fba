"""How events reach their listeners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypeGuard, cast

from seam.kernel._errors import MiddlewareFinished, MiddlewareSkipped
from seam.kernel._event import Answer, AnswerT, Around, Decide, Next, Observe, PayloadT
from seam.kernel._fault import contained

if TYPE_CHECKING:
    from seam.kernel._node import Node
    from seam.kernel._place import Place


class Listener:
    """One registered listener; `live` until its plugin takes it back."""

    __slots__ = ("call", "live", "node")

    def __init__(self, node: Node, call: Callable[..., object]) -> None:
        self.node = node
        self.call = call
        self.live = True


class Emitter(ABC):
    """Emits to whatever `listeners` names, in that order."""

    @abstractmethod
    def listeners(self, event: object) -> tuple[Listener, ...]:
        """Who listens to an event now."""

    async def observe(self, event: Observe[PayloadT], payload: PayloadT) -> None:
        """Tell every listener; errors are contained and reported."""
        for listener in self.listeners(event):
            if not listener.live:
                continue
            try:
                outcome = listener.call(payload)
                if outcome is not None and _awaitable(outcome):
                    await outcome
            except BaseException as error:
                if not contained(error):
                    raise
                listener.node.report("listener", event.name, error)

    async def decide(self, event: Decide[PayloadT, AnswerT], payload: PayloadT) -> list[Answer[AnswerT]]:
        """Ask every listener; an error is an answer, and reported."""
        answers: list[Answer[AnswerT]] = []
        for listener in self.listeners(event):
            if not listener.live:
                continue
            try:
                outcome = listener.call(payload)
                if _awaitable(outcome):
                    outcome = await outcome
            except BaseException as error:
                if not contained(error):
                    raise
                listener.node.report("listener", event.name, error)
                answers.append(Answer(listener.node, None, error))
            else:
                answers.append(Answer(listener.node, cast("AnswerT", outcome)))
        return answers

    async def around(
        self, event: Around[PayloadT, AnswerT], payload: PayloadT, innermost: Next[PayloadT, AnswerT]
    ) -> AnswerT:
        """Nest every listener around `innermost`, the first one outermost."""
        step = innermost
        listeners = self.listeners(event)
        if not listeners:
            return await innermost(payload)
        for listener in reversed(listeners):
            step = _Layer(event, listener, step)
        return await step(payload)


def _awaitable(outcome: object) -> TypeGuard[Awaitable[object]]:
    # inspect.isawaitable asks an abstract class and flags of old generators, which costs more than the dispatch
    return hasattr(type(outcome), "__await__")


class Several(Emitter):
    """Emits to the listeners of several scopes, each once."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places

    def listeners(self, event: object) -> tuple[Listener, ...]:
        return tuple(dict.fromkeys(listener for place in self._places for listener in place.listeners(event)))


class _Layer(Generic[PayloadT, AnswerT]):
    __slots__ = ("_event", "_inner", "_listener")

    def __init__(
        self, event: Around[PayloadT, AnswerT], listener: Listener, inner: Next[PayloadT, AnswerT]
    ) -> None:
        self._event = event
        self._listener = listener
        self._inner = inner

    async def __call__(self, payload: PayloadT) -> AnswerT:
        if not self._listener.live:
            return await self._inner(payload)
        onward = _Onward(self._event, self._listener, self._inner)
        try:
            answer = await cast("Awaitable[AnswerT]", self._listener.call(payload, onward))
        finally:
            onward.finished = True
        if not onward.called:
            plugin = self._listener.node.name
            raise MiddlewareSkipped(
                f"{plugin!r} returned from {self._event.name!r} without calling next; call it, or raise to refuse",
                event=self._event.name,
                plugin=plugin,
            )
        return answer


class _Onward(Generic[PayloadT, AnswerT]):
    """The `next` that one listener gets for one call."""

    __slots__ = ("_event", "_inner", "_listener", "called", "finished")

    def __init__(
        self, event: Around[PayloadT, AnswerT], listener: Listener, inner: Next[PayloadT, AnswerT]
    ) -> None:
        self._event = event
        self._listener = listener
        self._inner = inner
        self.called = False
        self.finished = False

    async def __call__(self, payload: PayloadT) -> AnswerT:
        if self.finished:
            plugin = self._listener.node.name
            raise MiddlewareFinished(
                f"{plugin!r} called next of {self._event.name!r} after its listener returned; await it inside",
                event=self._event.name,
                plugin=plugin,
            )
        self.called = True
        return await self._inner(payload)
