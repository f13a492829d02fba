"""The first step of a tool: what would happen, decided and inert."""

from __future__ import annotations

from functools import cached_property

from pydantic import ConfigDict, Field, JsonValue

from seam.kernel import Value
from seam.tools_def._actions import Action
from seam.tools_def._effects import Deadline, Effects
from seam.tools_def._json import digest_of_text, validated_json


class ResolvedCall(Value):
    """What a call would do. Permission, approval and journal see this and nothing else.

    Attributes:
        tool: the tool's name.
        descriptor: digest of the tool's descriptor; consent is void when it changes.
        arguments: the validated arguments, complete.
        subject: everything that is decided about the call (workdir, environment with secrets as references, binary,
            isolation, executor and version); part of the digest. Never holds a secret's value.
        effects: of this very call; at most the tool's.
        actions: what it would do, in the shared vocabulary.
        deadline: seconds from its start by which the result is there.
        summary: what a person is shown.
        plan: the tool's own object for `run` (an ExecSpec, ...); not part of the digest, never serialised.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    tool: str
    descriptor: str
    arguments: JsonValue
    subject: JsonValue = None
    effects: Effects
    actions: tuple[Action, ...] = ()
    deadline: Deadline
    summary: str
    plan: object = Field(default=None, exclude=True, repr=False)

    @cached_property
    def digest(self) -> str:
        """Digest over everything decided: what consent is bound to."""
        decided = {
            "tool": self.tool,
            "descriptor": self.descriptor,
            "arguments": self.arguments,
            "subject": self.subject,
            "effects": {"kinds": sorted(self.effects.kinds), "known": self.effects.known},
            "actions": [action.model_dump() for action in self.actions],
        }
        return digest_of_text(validated_json(decided))


class Resolution(Value):
    """What a tool's own `resolve` answers; the chain completes it to a `ResolvedCall`.

    Attributes:
        subject: see `ResolvedCall.subject`.
        actions: see `ResolvedCall.actions`.
        effects: narrower effects of this call, or None for the tool's.
        deadline: seconds, or None for the tool's.
        summary: for a person; empty means tool and arguments.
        plan: the tool's own object for `run`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    subject: JsonValue = None
    actions: tuple[Action, ...] = ()
    effects: Effects | None = None
    deadline: float | None = None
    summary: str = ""
    plan: object = Field(default=None, exclude=True, repr=False)
