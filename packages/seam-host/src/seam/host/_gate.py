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
        return self._open(owner, access, approval, questions, parallel)

    @asynccontextmanager
    async def _open(
        self,
        owner: Owner,
        access: Access,
        approval: ApprovalPort | None,
        questions: QuestionPort | None,
        parallel: bool,
    ) -> AsyncGenerator[Turn]:
        if parallel:
            async with self._leased(owner, access, approval, questions) as turn:
                yield turn
            return
        async with self._sessions.hold(owner), self._leased(owner, access, approval, questions) as turn:
            yield turn

    @asynccontextmanager
    async def _leased(
        self, owner: Owner, access: Access, approval: ApprovalPort | None, questions: QuestionPort | None
    ) -> AsyncGenerator[Turn]:
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
        async with _closing(turn, lease, self._grants):
            yield turn

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


@asynccontextmanager
async def _closing(turn: OpenTurn, lease: HostLease, grants: Grants) -> AsyncGenerator[None]:
    """Close the turn by how its body ended; the record says so."""
    how, reason = "ended", ""
    try:
        yield
    except anyio.get_cancelled_exc_class():
        how, reason = "cancelled", "the caller was cancelled"
        raise
    except BaseException as error:
        how, reason = "failed", f"{type(error).__name__}: {error}"
        raise
    finally:
        with anyio.CancelScope(shield=True):
            try:
                await turn.close(how, reason)
            finally:
                grants.end_turn(turn.id)
                await lease.release()
