"""The book of grants, in memory: grants end with the process that gave them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from seam.tools_def._access import Access, Agent, Owner
from seam.tools_def._grants import Grant, Grants
from seam.tools_def._permissions import Permissions
from seam.tools_def._resolved import ResolvedCall


def _utc_now() -> datetime:
    return datetime.now(UTC)


class GrantBook(Grants):
    """Keeps grants per owner. Not safe across threads: it belongs to one event loop.

    Args:
        now: the clock, aware; expiry is judged by it.
    """

    def __init__(self, now: Callable[[], datetime] = _utc_now) -> None:
        self._now = now
        self._grants: dict[Owner, dict[str, Grant]] = {}

    def add(self, grant: Grant) -> None:
        self._grants.setdefault(grant.owner, {})[grant.id] = grant

    def find(
        self,
        resolved: ResolvedCall,
        turn: str,
        owner: Owner,
        agent: Agent,
        access: Access,
        permissions: Permissions | None,
    ) -> Grant | None:
        if owner not in self._grants:
            return None
        for grant in self._live(owner):
            if (
                grant.principal == access.principal
                and grant.tool == resolved.tool
                and grant.descriptor == resolved.descriptor
                and grant.turn in (None, turn)
                and _covers(grant, resolved, agent, access, permissions)
            ):
                return grant
        return None

    def list(self, owner: Owner | None = None) -> Sequence[Grant]:
        owners = list(self._grants) if owner is None else [owner]
        return tuple(grant for one in owners for grant in self._live(one))

    def revoke(self, grant: str) -> bool:
        return any(kept.pop(grant, None) is not None for kept in self._grants.values())

    def end_turn(self, turn: str) -> None:
        for kept in self._grants.values():
            for grant in [grant for grant in kept.values() if grant.turn == turn]:
                del kept[grant.id]

    def end_session(self, owner: Owner) -> None:
        self._grants.pop(owner, None)

    def _live(self, owner: Owner) -> Sequence[Grant]:
        kept = self._grants.get(owner, {})
        now = self._now()
        for grant in [grant for grant in kept.values() if grant.expires is not None and grant.expires <= now]:
            del kept[grant.id]
        return tuple(kept.values())


def _covers(
    grant: Grant, resolved: ResolvedCall, agent: Agent, access: Access, permissions: Permissions | None
) -> bool:
    if grant.digest is not None:
        return grant.digest == resolved.digest
    if grant.rule is None or permissions is None:
        return False
    return permissions.covers(grant.rule, resolved, agent, access)
