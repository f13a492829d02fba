"""The gate: opens turns, always on the published generation. Doors have nothing else."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from seam.host._generation import Generation
from seam.host._leases import HostLease
from seam.jobs_def import JobOwner, JobRegistry
from seam.tools_def import (
    Access,
    Agent,
    ApprovalPort,
    Grants,
    Journal,
    OpenTurn,
    Owner,
    PublishedTools,
    QuestionPort,
    Turn,
    TurnGate,
    TurnOpening,
    UnknownAgent,
)

if TYPE_CHECKING:
    from seam.host._control import GenerationControl


class SessionLocks:
    """One lock for each session that has turns open or waiting; turns of one session are serial."""

    def __init__(self) -> None:
        self._locks: dict[Owner, tuple[anyio.Lock, int]] = {}

    @asynccontextmanager
    async def hold(self, owner: Owner) -> AsyncGenerator[None]:
        """Wait for the session's turn to be over, and hold it."""
        lock, users = self._locks.get(owner, (anyio.Lock(), 0))
        self._locks[owner] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            users = self._locks[owner][1]
            if users == 1:
                del self._locks[owner]
            else:
                self._locks[owner] = (lock, users - 1)


class Gate(TurnGate):
    """The host's TurnGate."""

    def __init__(self, control: GenerationControl, grants: Grants, journal: Callable[[], Journal]) -> None:
        self._control = control
        self._grants = grants
        self._journal = journal
        self._sessions = SessionLocks()

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
        """Open a turn on the published generation; see `TurnGate.open`."""
        owner = Owner(agent=agent, session=session)
        leased = _Leased(self, owner, access, approval, questions)
        return leased if parallel else self._serial(owner, leased)

    @asynccontextmanager
    async def _serial(self, owner: Owner, leased: AbstractAsyncContextManager[Turn]) -> AsyncGenerator[Turn]:
        async with self._sessions.hold(owner), leased as turn:
            yield turn

    async def lease(
        self, owner: Owner, access: Access, approval: ApprovalPort | None, questions: QuestionPort | None
    ) -> tuple[OpenTurn, HostLease]:
        """A turn on the published generation, and the lease that it holds; both are the caller's to give back."""
        generation = self._control.admit()
        agent = _known(generation, owner.agent)
        lease = generation.lease()
        try:
            turn = await generation.contents.tools.open(
                self._opening(generation, lease, agent, owner, access, approval, questions)
            )
        except BaseException:
            with anyio.CancelScope(shield=True):
                await lease.release()
            raise
        generation.occupied_by(lease, turn)
        return turn, lease

    async def give_back(self, turn: OpenTurn, lease: HostLease, error: BaseException | None) -> None:
        """Close a turn by how its body ended; the record says so."""
        how, reason = "ended", ""
        if error is not None:
            cancelled = isinstance(error, anyio.get_cancelled_exc_class())
            how, reason = (
                ("cancelled", "the caller was cancelled")
                if cancelled
                else ("failed", f"{type(error).__name__}: {error}")
            )
        with anyio.CancelScope(shield=True):
            try:
                await turn.close(how, reason)
            finally:
                self._grants.end_turn(turn.id)
                await lease.release()

    def _opening(
        self,
        generation: Generation,
        lease: HostLease,
        agent: Agent,
        owner: Owner,
        access: Access,
        approval: ApprovalPort | None,
        questions: QuestionPort | None,
    ) -> TurnOpening:
        return TurnOpening(
            turn=f"turn-{uuid.uuid4().hex}",
            agent=agent,
            session=owner.session,
            access=access,
            catalogue=generation.contents.catalogue,
            lease=lease,
            journal=self._journal(),
            emitter=generation.place(agent.name),
            grants=self._grants,
            permissions=generation.permissions(agent.name),
            approval=approval,
            questions=questions,
        )

    async def end_session(self, agent: str, session: str) -> None:
        """End what belongs to the conversation: grants, and jobs in every generation that still lives."""
        self._grants.end_session(Owner(agent=agent, session=session))
        owner = JobOwner(agent=agent, session=session)
        seen: set[int] = set()
        for generation in self._control.living():
            registry = generation.place(agent).get(JobRegistry)
            if registry is not None and id(registry) not in seen:
                seen.add(id(registry))
                await registry.end_owner(owner)

    def agents(self) -> tuple[Agent, ...]:
        """The declared agents of the published generation."""
        return tuple(self._control.admit().contents.agents.values())

    def subscribe(self, observer: Callable[[PublishedTools], None]) -> Callable[[], None]:
        """Be told after each publish."""
        return self._control.subscribe(observer)


def _known(generation: Generation, agent: str) -> Agent:
    found = generation.contents.agents.get(agent)
    if found is None:
        known = tuple(sorted(generation.contents.agents))
        raise UnknownAgent(
            f"the deployment declares no agent {agent!r}; it has {', '.join(known) or 'none'}",
            agent=agent,
            known=known,
        )
    return found


class _Leased(AbstractAsyncContextManager[Turn]):
    """One turn for the duration of a block. A class, since every call of a door passes here and a generator costs more."""

    def __init__(
        self,
        gate: Gate,
        owner: Owner,
        access: Access,
        approval: ApprovalPort | None,
        questions: QuestionPort | None,
    ) -> None:
        self._gate = gate
        self._wanted = (owner, access, approval, questions)
        self._held: tuple[OpenTurn, HostLease] | None = None

    async def __aenter__(self) -> Turn:
        self._held = await self._gate.lease(*self._wanted)
        return self._held[0]

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        assert self._held is not None  # the block was entered
        await self._gate.give_back(*self._held, error)
