"""Who is connected: one Seam session for each client connection."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from mcp.server.session import ServerSession

from seam.tools_def import Access, Resource


@dataclass
class Conversation:
    """One client's session.

    Attributes:
        id: the session's id in Seam.
        agent: the agent that it speaks for.
        access: who stands behind it.
        resources: files that outcomes pointed this client at, by URI; nothing else can be read.
        channel: where notifications go, once the client has asked something.
    """

    id: str
    agent: str
    access: Access
    resources: OrderedDict[str, Resource] = field(default_factory=OrderedDict[str, Resource])
    channel: ServerSession | None = None


class Conversations:
    """All sessions of the door."""

    def __init__(self) -> None:
        self._by_key: dict[str, Conversation] = {}

    def find(self, key: str, agent: str, access: Access) -> tuple[Conversation, bool]:
        """The session of a connection, and whether it is new."""
        known = self._by_key.get(key)
        if known is not None:
            return known, False
        made = Conversation(id=f"mcp-{secrets.token_hex(8)}", agent=agent, access=access)
        self._by_key[key] = made
        return made, True

    def drop(self, key: str) -> Conversation | None:
        """Forget a connection; answers its session for whoever ends it."""
        return self._by_key.pop(key, None)

    def all(self) -> tuple[Conversation, ...]:
        """Every session."""
        return tuple(self._by_key.values())

    def connections(self) -> tuple[str, ...]:
        """Every connection."""
        return tuple(self._by_key)
