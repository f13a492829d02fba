"""One immutable assembly of a deployment: published, retired, disposed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import anyio

from seam.host._leases import HostLease
from seam.host._outcomes import RowProblem
from seam.host._slots import Assembly
from seam.kernel import Fault, Instance, Scope
from seam.tools_def import Agent, Catalogue, OpenTurn, Permissions, Tools

State = Literal["candidate", "published", "retired", "drained", "disposed"]


@dataclass(frozen=True)
class Contents:
    """What prepare made: everything here is settled, validated and sealed."""

    assembly: Assembly
    scope: Scope
    realms: Mapping[str, Scope]
    agents: Mapping[str, Agent]
    catalogue: Catalogue
    tools: Tools
    instances: Mapping[str, Instance]
    carried: tuple[str, ...]
    rebuilt: tuple[str, ...]
    left_out: tuple[RowProblem, ...] = ()


class Generation:
    """A published candidate, with the leases that are out on it."""

    def __init__(self, number: int, contents: Contents) -> None:
        self.number = number
        self.contents = contents
        self.state: State = "candidate"
        self._leases: set[HostLease] = set()
        self._turns: dict[HostLease, OpenTurn] = {}
        self._idle = anyio.Event()
        self._waiting: anyio.CancelScope | None = None
        self.gone = anyio.Event()
        """Set when it is disposed."""

    @property
    def admits_calls(self) -> bool:
        """Whether turns that hold it may still start calls."""
        return self.state in ("published", "retired")

    @property
    def leases(self) -> int:
        """How many are out."""
        return len(self._leases)

    def place(self, agent: str) -> Scope:
        """Where an agent's services resolve: its realm, or the generation itself."""
        return self.contents.realms.get(agent, self.contents.scope)

    def permissions(self, agent: str) -> Permissions | None:
        """The policy that an agent's calls go past."""
        return self.place(agent).get(Permissions)

    def lease(self) -> HostLease:
        """Hold it; only the published one gives leases."""
        lease = HostLease(self)
        self._leases.add(lease)
        return lease

    def occupied_by(self, lease: HostLease, turn: OpenTurn) -> None:
        """Remember the turn of a lease, so that a drain can end it."""
        self._turns[lease] = turn

    def returned(self, lease: HostLease) -> None:
        """A lease came back."""
        self._leases.discard(lease)
        self._turns.pop(lease, None)
        # not before it is retired: a published one is idle now and then, and leased again
        if not self._leases and self.state in ("retired", "drained"):
            self._idle.set()

    def retire(self) -> None:
        """No new turns; those that are open go on. Synchronous: part of the one step of a publish."""
        self.state = "retired"
        if not self._leases:
            self._idle.set()

    async def drain(self, seconds: float) -> int:
        """Wait for the leases, at most `seconds`; then end the turns that hold it. Answers how many were ended."""
        with anyio.move_on_after(seconds) as self._waiting:
            await self._idle.wait()
        self._waiting = None
        self.state = "drained"
        turns = list(self._turns.values())
        async with anyio.create_task_group() as group:
            for turn in turns:
                group.start_soon(_end_turn, turn, self.number)
        await self._idle.wait()
        return len(turns)

    def hurry(self, seconds: float) -> None:
        """Let a drain under way wait at most so long from now on."""
        if self._waiting is not None:
            self._waiting.deadline = min(self._waiting.deadline, anyio.current_time() + seconds)

    async def dispose(self) -> tuple[Fault, ...]:
        """Unwind: consumers first, then implementers, realms before the rest. What others hold lives on."""
        faults = await self.contents.scope.aclose()
        self.state = "disposed"
        self.gone.set()
        return faults


async def _end_turn(turn: OpenTurn, number: int) -> None:
    await turn.close("drained", f"generation {number} was retired and its drain deadline passed")
