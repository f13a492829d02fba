"""Ports to a person, given when a turn is opened. Abstract classes, not keys: they belong to the door."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Literal

from pydantic import Field, JsonValue, PositiveFloat

from seam.kernel import Value
from seam.tools_def._access import Access, Owner
from seam.tools_def._resolved import ResolvedCall


class ApprovalRequest(Value):
    """One question about one resolved call, with all reasons.

    Attributes:
        approval: id of the question.
        call: id of the call.
        resolved: what would happen.
        reasons: why somebody must be asked, each a sentence; never empty.
        rules: rules that the person may grant for the session instead of this one digest; shown as they are.
        owner: whose session it is.
        access: who stands behind it.
    """

    approval: str
    call: str
    resolved: ResolvedCall
    reasons: tuple[str, ...]
    rules: tuple[str, ...] = ()
    owner: Owner
    access: Access


class Approve(Value):
    """Yes.

    Attributes:
        by: who said so.
        grant: how far it reaches: this call (`once`), this digest for the turn or the session, or a shown rule for the session.
        rule: the rule, one of those shown, with `grant="rule"`.
        expires: seconds until a session or rule grant ends; None means with the session.
    """

    kind: Literal["approve"] = "approve"
    by: str
    grant: Literal["once", "turn", "session", "rule"] = "once"
    rule: str | None = None
    expires: PositiveFloat | None = None


class Edit(Value):
    """Yes, with other arguments; the chain starts again at validation, and the record shows both."""

    kind: Literal["edit"] = "edit"
    by: str
    arguments: JsonValue


class Deny(Value):
    """No. Remembered for the same digest in the turn."""

    kind: Literal["deny"] = "deny"
    by: str
    reason: str = ""


class Expired(Value):
    """Nobody answered in time. Not remembered."""

    kind: Literal["expired"] = "expired"
    reason: str = "nobody answered in time"


ApprovalAnswer = Annotated[Approve | Edit | Deny | Expired, Field(discriminator="kind")]


class ApprovalPort(ABC):
    """Where a door asks its person. A port that raises means refused."""

    @abstractmethod
    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Ask and wait for the answer. Cancelled when the turn or call is: a later answer starts nothing."""


class Question(Value):
    """A question to a person that is not an approval.

    Attributes:
        text: what is asked.
        options: answers to choose from; empty means free text.
        multiple: whether several options may be chosen.
        details: JSON Schema of a structured answer, where one is wanted.
    """

    text: str
    options: tuple[str, ...] = ()
    multiple: bool = False
    details: JsonValue = None


class QuestionAnswer(Value):
    """What the person said.

    Attributes:
        answered: False when the person declined or was not there.
        value: the text, the chosen options, or the structured answer.
    """

    answered: bool
    value: JsonValue = None


class QuestionPort(ABC):
    """Where a door asks its person for information."""

    @abstractmethod
    async def ask(self, question: Question) -> QuestionAnswer:
        """Ask and wait for the answer."""
