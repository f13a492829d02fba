"""Generations, one operation after the other: prepare, publish, retire, dispose, stop."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from seam.host._generation import Contents, Generation
from seam.host._outcomes import HostStopped, ReloadOutcome, RollbackFailed, StopReport
from seam.kernel import Fault, SeamError, TeardownAbandoned
from seam.tools_def import AdmissionClosed, PublishedTools

Observer = Callable[[PublishedTools], None]
Note = Callable[[str, str, dict[str, object]], Awaitable[None]]
"""Writes a record of the host: topic, text, data."""


class Prepare(Protocol):
    """Builds a whole candidate, or raises and leaves nothing behind."""

    async def __call__(self, published: Generation | None, number: int, /) -> Prepared: ...


class Prepared(Protocol):
    """What a prepare answers: contents to publish, or the reason not to."""

    @property
    def contents(self) -> Contents | None: ...
    @property
    def outcome(self) -> ReloadOutcome: ...


class GenerationControl:
    """Owns the generations. Operations are serial; a failing one does not block the next."""

    def __init__(self, note: Note, *, drain: float) -> None:
        self._note = note
        self._drain = drain
        self._serial = anyio.Lock()
        self._published: Generation | None = None
        self._retired: list[Generation] = []
        self._number = 0
        self._closed: str | None = "nothing is published yet"
        self._observers: dict[object, Observer] = {}
        self._tasks: TaskGroup | None = None
        self._candidate: anyio.CancelScope | None = None
        self._stopping = False
        self._budget = drain
        self._report: StopReport | None = None
        self._errors: list[str] = []
        self._abandoned: list[str] = []
        self._ended_turns = 0

    def run_in(self, tasks: TaskGroup) -> None:
        """Give it the task group that its drains run in; the caller waits for that group after `stop`."""
        self._tasks = tasks

    @property
    def published(self) -> Generation | None:
        """The generation that new turns are opened on."""
        return self._published

    @property
    def number(self) -> int:
        """The number of the newest generation that was published; 0 before the first."""
        return self._number

    def living(self) -> tuple[Generation, ...]:
        """The published one and those that still drain."""
        current = (self._published,) if self._published is not None else ()
        return (*current, *self._retired)

    def admit(self) -> Generation:
        """The generation for a new turn.

        Raises:
            AdmissionClosed: nothing is published, the host is stopping, or a roll-back failed.
        """
        if self._closed is not None or self._published is None:
            reason = self._closed or "nothing is published yet"
            raise AdmissionClosed(f"no turn can be opened: {reason}", reason=reason)
        return self._published

    def subscribe(self, observer: Observer) -> Callable[[], None]:
        """Call `observer` after each publish."""
        key = object()
        self._observers[key] = observer

        def unsubscribe() -> None:
            self._observers.pop(key, None)

        return unsubscribe

    async def replace(self, prepare: Prepare) -> ReloadOutcome:
        """Prepare a candidate and publish it.

        Raises:
            HostStopped: the host is stopping; a prepare under way is cancelled and unwound.
            RollbackFailed: the candidate could not be unwound; admission is closed.
        """
        async with self._serial:
            if self._stopping:
                raise HostStopped("the host is stopping; nothing new is prepared")
            started = time.monotonic()
            expected = self._number
            prepared = await self._prepare(prepare, expected + 1)
            if prepared.contents is not None:
                self._publish(prepared.contents, expected)
                await self._announce(prepared.outcome)
            return prepared.outcome.model_copy(
                update={"generation": self._number, "seconds": time.monotonic() - started}
            )

    async def _prepare(self, prepare: Prepare, number: int) -> Prepared:
        with anyio.CancelScope() as scope:
            self._candidate = scope
            try:
                return await prepare(self._published, number)
            except RollbackFailed as problem:
                self._closed = f"a candidate could not be unwound: {problem.message}"
                raise
            finally:
                self._candidate = None
        raise HostStopped("the host was stopped while a candidate was prepared; the candidate is unwound")

    def _publish(self, contents: Contents, expected: int) -> None:
        """The one step, without an await: swap, retire, count. Nothing of a candidate is reachable before it."""
        if expected != self._number:  # the lock makes this impossible; a silent double publish would be worse
            raise AssertionError(f"expected generation {expected}, found {self._number}")
        old, new = self._published, Generation(expected + 1, contents)
        new.state = "published"
        self._published, self._number = new, expected + 1
        if not self._stopping:
            self._closed = None
        if old is not None:
            old.retire()
            self._retired.append(old)
            assert self._tasks is not None
            self._tasks.start_soon(self._see_off, old)

    async def _announce(self, outcome: ReloadOutcome) -> None:
        assert self._published is not None
        catalogue = self._published.contents.catalogue
        told = PublishedTools(
            generation=self._number,
            digests={agent: catalogue.digest(agent) for agent in self._published.contents.agents},
        )
        for observer in list(self._observers.values()):
            try:
                observer(told)
            except Exception as error:  # an observer cannot change or block a publish, whatever it raises
                await self._try_note("observer.error", f"an observer of generations raised {error!r}", {})
        data: dict[str, object] = {
            "generation": self._number,
            "rebuilt": list(outcome.rebuilt),
            "carried": list(outcome.carried),
            "removed": list(outcome.removed),
            "changed": list(outcome.changed),
        }
        await self._try_note("generation.published", f"generation {self._number} is published", data)

    async def _see_off(self, generation: Generation) -> None:
        # whoever cancels the block of a host waits for this all the same: nothing else disposes of the generation
        with anyio.CancelScope(shield=True):
            await self._drain_and_dispose(generation)

    async def _drain_and_dispose(self, generation: Generation) -> None:
        ended = await generation.drain(self._budget if self._stopping else self._drain)
        self._ended_turns += ended
        faults = await generation.dispose()
        self._retired.remove(generation)
        self._errors += sentences(faults)
        self._abandoned += [str(fault) for fault in faults if isinstance(fault.error, TeardownAbandoned)]
        data: dict[str, object] = {
            "generation": generation.number,
            "ended_turns": ended,
            "errors": sentences(faults),
        }
        await self._try_note("generation.disposed", f"generation {generation.number} is disposed", data)

    async def _try_note(self, topic: str, text: str, data: dict[str, object]) -> None:
        try:
            await self._note(topic, text, data)
        except SeamError as error:
            # a turn fails when its record cannot be kept; what the host does to itself goes on and reports it at the end
            self._errors.append(f"{topic} could not be recorded: {error.message}")

    async def stop(self, *, budget: float) -> StopReport:
        """Close admission, cancel a prepare under way, wait for the leases within the budget, dispose. Idempotent."""
        self._stopping, self._budget = True, budget
        self._closed = "the host is stopping"
        if self._candidate is not None:
            self._candidate.cancel()
        async with self._serial:
            if self._report is None:
                self._report = await self._stop(budget)
            return self._report

    async def _stop(self, budget: float) -> StopReport:
        last, self._published = self._published, None
        if last is not None:
            last.retire()
            self._retired.append(last)
            assert self._tasks is not None
            self._tasks.start_soon(self._see_off, last)
        for generation in list(self._retired):
            generation.hurry(budget)
        for generation in list(self._retired):
            await generation.gone.wait()
        return StopReport(
            errors=tuple(self._errors), abandoned=tuple(self._abandoned), ended_turns=self._ended_turns
        )


def sentences(faults: Sequence[Fault]) -> list[str]:
    """Each fault as a sentence."""
    return [str(fault) for fault in faults]
