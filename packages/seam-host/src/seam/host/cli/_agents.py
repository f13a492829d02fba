"""Which agent acts."""

from __future__ import annotations

from seam.tools_def import Agent, TurnGate, UnknownAgent


def chosen_agent(gate: TurnGate, wanted: str | None) -> Agent:
    """The agent that is named, else the only one, else the one called `default`.

    Raises:
        UnknownAgent: there is none of that name, or several and none is named.
    """
    agents = {agent.name: agent for agent in gate.agents()}
    if wanted is None and len(agents) == 1:
        return next(iter(agents.values()))
    found = agents.get(wanted or "default")
    if found is not None:
        return found
    known = ", ".join(sorted(agents))
    if wanted is None:
        raise UnknownAgent(
            f"several agents are declared; name one with --agent: {known}", agent="", known=known
        )
    raise UnknownAgent(
        f"the deployment declares no agent {wanted!r}; it has {known}", agent=wanted, known=known
    )
