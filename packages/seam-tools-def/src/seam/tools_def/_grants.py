"""Grants: a person's yes that reaches further than one call. Kept by the host, above the generations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, Self

from pydantic import AwareDatetime, model_validator

from seam.kernel import Value
from seam.tools_def._access import Access, Agent, Owner
from seam.tools_def._permissions import Permissions
from seam.tools_def._resolved import ResolvedCall


class Grant(Value):
    """One grant, for a digest or for a rule that the person was shown.

    Attributes:
        id: for listing and revoking.
        owner: agent and session that it holds for.
        principal: the only principal that it holds for.
        descriptor: digest of the tool's descriptor; void when it changes.
        tool: the tool's name.
        digest: the resolved call's digest, or None for a rule.
        rule: the rule as shown, or None for a digest.
        reach: `turn` ends with the turn named in `turn`; `session` with the session.
        expires: UTC, or None.
    """

    id: str
    owner: Owner
    principal: str
    tool: str
    descriptor: str
    digest: str | None
    rule: str | None
    reach: Literal["turn", "session"]
    turn: str | None
    expires: AwareDatetime | None
    given_by: str
    given_at: AwareDatetime

    @model_validator(mode="after")
    def _for_one_thing(self) -> Self:
        if (self.digest is None) == (self.rule is None):
            raise ValueError("a grant is for a digest or for a rule, for exactly one of them")
        if (self.reach == "turn") != (self.turn is not None):
            raise ValueError("a grant names a turn if, and only if, it ends with it")
        return self


class Grants(ABC):
    """The host's book of grants."""

    @abstractmethod
    def add(self, grant: Grant) -> None:
        """Keep a grant."""

    @abstractmethod
    def find(
        self,
        resolved: ResolvedCall,
        turn: str,
        owner: Owner,
        agent: Agent,
        access: Access,
        permissions: Permissions | None,
    ) -> Grant | None:
        """A live grant that covers the call: same owner, principal and descriptor, not expired; a rule through `permissions.covers`."""

    @abstractmethod
    def list(self, owner: Owner | None = None) -> Sequence[Grant]:
        """Live grants, of one owner or all."""

    @abstractmethod
    def revoke(self, grant: str) -> bool:
        """End a grant by id; False when there is none."""

    @abstractmethod
    def end_turn(self, turn: str) -> None:
        """Drop what ends with a turn."""

    @abstractmethod
    def end_session(self, owner: Owner) -> None:
        """Drop what ends with a session."""
