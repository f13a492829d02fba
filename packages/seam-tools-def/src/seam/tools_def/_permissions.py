"""Permissions: what policy says about one resolved call."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

from pydantic import JsonValue

from seam.kernel import Service, Value
from seam.tools_def._access import Access, Agent
from seam.tools_def._resolved import ResolvedCall

Verdict = Literal["allow", "deny", "ask"]


class Decision(Value):
    """A verdict, who gave it and why.

    Attributes:
        verdict: deny beats ask beats allow; an allow waives `on-risk`, never `always`.
        rule: the rule that decides, as it is written, with its place; empty where no rule matched.
        reason: a sentence for person and model.
        grants: rules that a person may grant for the session, in the words that she is shown.
    """

    verdict: Verdict
    rule: str = ""
    reason: str
    grants: tuple[str, ...] = ()


class Permissions(Service, key="permissions"):
    """Decides by policy; it never asks anybody and has no effect outside."""

    @abstractmethod
    def holds(self, permission: str, agent: Agent, access: Access) -> bool:
        """Whether the principal holds a permission that a tool declares."""

    @abstractmethod
    async def decide(self, resolved: ResolvedCall, agent: Agent, access: Access) -> Decision | None:
        """The verdict on a call, or None where no rule speaks of it (then `requires_approval` alone decides)."""

    def offers(self, resolved: ResolvedCall, agent: Agent, access: Access) -> tuple[str, ...]:
        """As `Decision.grants`, for a call that no rule speaks of and that a person is asked about; none unless an implementer has some."""
        return ()

    @abstractmethod
    def covers(self, rule: str, resolved: ResolvedCall, agent: Agent, access: Access) -> bool:
        """Whether a rule that a person granted (`Decision.grants`) covers this call wholly."""

    @abstractmethod
    async def explain(self, resolved: ResolvedCall, agent: Agent, access: Access) -> JsonValue:
        """Every rule that was looked at, what it matched, and which decided; for `seam policy explain`."""
