"""Calls in flight, and the questions that they wait for."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable

import anyio
import mcp_types as types
from anyio.abc import TaskGroup

from seam.tools_def import Outcome


class PendingCall:
    """A call that goes on while its client fetches an answer from a person.

    The turn runs in a task of the door, since the request that began it is over when it asks for input. A repeated request
    with the same state takes it up again; when nobody does in time, the call is cancelled and settled like any other.
    """

    def __init__(self) -> None:
        self.state = secrets.token_urlsafe(24)
        self._changed = anyio.Event()
        self._question: types.ElicitRequest | None = None
        self._answer: types.ElicitResult | None = None
        self._answered = anyio.Event()
        self._outcome: Outcome | None = None
        self._error: Exception | None = None
        self._scope = anyio.CancelScope()
        self.rounds = 0

    async def run(self, work: Callable[[], Awaitable[Outcome]]) -> None:
        """Do the work; its outcome or error is kept for whoever asks."""
        try:
            with self._scope:
                self._outcome = await work()
        except Exception as error:  # handed to the request that waits; the door lives on
            self._error = error
        self._changed.set()

    def cancel(self) -> None:
        """The client is gone or gave up."""
        self._scope.cancel()

    async def elicit(self, message: str, schema: dict[str, object]) -> types.ElicitResult:
        """Part of the work: have the client ask its person."""
        self._question = types.ElicitRequest(
            params=types.ElicitRequestFormParams(message=message, requested_schema=schema)
        )
        self._answered = anyio.Event()
        self._changed.set()
        await self._answered.wait()
        answer, self._answer = self._answer, None
        assert answer is not None
        return answer

    def answer(self, answer: types.ElicitResult) -> None:
        """A repeated request brought the person's answer."""
        self._answer, self._question = answer, None
        self._changed = anyio.Event()
        self._answered.set()

    async def next(self) -> Outcome | types.ElicitRequest:
        """The outcome, or the next question. Cancelling the wait cancels the call."""
        try:
            await self._changed.wait()
        except anyio.get_cancelled_exc_class():
            self.cancel()
            raise
        if self._error is not None:
            raise self._error
        if self._outcome is not None:
            return self._outcome
        assert self._question is not None
        return self._question


class PendingCalls:
    """The calls of a door that wait for a person, by state."""

    def __init__(self, tasks: TaskGroup, timeout: float) -> None:
        self._tasks = tasks
        self._timeout = timeout
        self._waiting: dict[str, tuple[str, PendingCall]] = {}

    def begin(self, work: Callable[[PendingCall], Awaitable[Outcome]]) -> PendingCall:
        """Start the work in a task of the door."""
        call = PendingCall()
        self._tasks.start_soon(call.run, lambda: work(call))
        return call

    def keep(self, session: str, call: PendingCall) -> None:
        """Remember a call that asked for input; it is cancelled when nobody takes it up again."""
        self._waiting[call.state] = (session, call)
        call.rounds += 1
        self._tasks.start_soon(self._expire, call, call.rounds)

    async def _expire(self, call: PendingCall, asked: int) -> None:
        await anyio.sleep(self._timeout)
        if call.rounds == asked and self._waiting.pop(call.state, None) is not None:
            call.cancel()

    def take(self, session: str, state: str) -> PendingCall | None:
        """The call that a repeated request of the same session goes on with."""
        found = self._waiting.get(state)
        if found is None or found[0] != session:
            return None
        del self._waiting[state]
        return found[1]
