"""What a tool can do to the world, and who may see and call it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import Field, PlainSerializer

from seam.kernel import Value

EffectKind = Literal["reads", "writes", "executes", "network"]
RequiresApproval = Literal["never", "on-risk", "always"]
Concurrency = Literal["parallel", "exclusive"]
PresenceScope = Literal["private", "group", "channel"]

T = TypeVar("T", bound=str)
Words = Annotated[frozenset[T], PlainSerializer(sorted, return_type=list[str])]
"""A set of words that is always written in one order, so that a digest over it means the set."""

Deadline = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""Seconds; a number above 0."""

RISKY: frozenset[EffectKind] = frozenset({"writes", "executes", "network"})
"""The effects that `on-risk` asks about."""


class Effects(Value):
    """The effects of a tool or of one resolved call.

    Attributes:
        kinds: what is known to happen; empty and `known` means: nothing outside.
        known: False for a foreign tool whose row does not say `trusted = true`.
    """

    kinds: Words[EffectKind] = frozenset()
    known: bool = True

    @property
    def risky(self) -> bool:
        """Whether `on-risk` asks: a risky kind, or not known."""
        return not self.known or bool(self.kinds & RISKY)


def effects(*kinds: EffectKind) -> Effects:
    """Known effects: `effects("reads", "writes")`."""
    return Effects(kinds=frozenset(kinds))


UNKNOWN_EFFECTS = Effects(known=False)


class Visibility(Value):
    """Who sees a tool or skill. The fields mean the same for every source.

    Attributes:
        platforms: the door's platform must be among them (`mcp`, `cli`, ...); empty means any.
        scopes: who is present must be among them; empty means any.
        permissions: each must be held by the principal; checked again at the call.
        hidden: never listed to the model; callable only where the deployment gave its name to the agent (`call_hidden`).
    """

    platforms: Words[str] = frozenset()
    scopes: Words[PresenceScope] = frozenset()
    permissions: Words[str] = frozenset()
    hidden: bool = False
