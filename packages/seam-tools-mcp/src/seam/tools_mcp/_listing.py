"""What a session sees: read through a turn once for each generation, since a listing changes only with one."""

from __future__ import annotations

import anyio

from seam.tools_def import Access, Descriptor, TurnGate


class View:
    """The tools and the instructions of one agent for one kind of access."""

    def __init__(self, tools: tuple[Descriptor, ...], instructions: str) -> None:
        self.tools = tools
        self.instructions = instructions
        self.by_name = {tool.name: tool for tool in tools}


class Views:
    """Views by agent and access, forgotten at each publish."""

    def __init__(self, gate: TurnGate) -> None:
        self._gate = gate
        self._views: dict[tuple[str, Access], View] = {}
        self._reading = anyio.Lock()

    def forget(self) -> None:
        """A generation was published."""
        self._views.clear()

    async def of(self, agent: str, access: Access) -> View:
        """The view; a turn is opened where it is not known.

        Raises:
            AdmissionClosed, UnknownAgent.
        """
        known = self._views.get((agent, access))
        if known is not None:
            return known
        async with self._reading:
            known = self._views.get((agent, access))
            if known is None:
                async with self._gate.open(
                    agent, session="mcp-listing", access=access, parallel=True
                ) as turn:
                    known = View(turn.tools, turn.instructions())
                self._views[(agent, access)] = known
            return known
