"""Who acts, and from where."""

from __future__ import annotations

from seam.kernel import Value
from seam.tools_def._effects import PresenceScope, Words


class Access(Value):
    """Given by the door when a turn is opened.

    Attributes:
        principal: who stands behind the session: a user name, a token's subject, `local`.
        platform: the door: `cli`, `mcp`, `embedded`, ...
        scope: who is present.
    """

    principal: str
    platform: str
    scope: PresenceScope = "private"


class Owner(Value):
    """Whose a lasting thing (a job, a terminal, a grant) is: fenced by agent and session."""

    agent: str
    session: str


class Agent(Value):
    """An agent as the deployment declares it.

    Attributes:
        name: its row name.
        workspace: a path of the world; absolute.
        call_hidden: names of hidden tools that this agent's callers were given.
    """

    name: str
    workspace: str
    call_hidden: Words[str] = frozenset()
