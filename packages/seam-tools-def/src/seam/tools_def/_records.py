"""What is written into the journal."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from seam.kernel import Value
from seam.tools_def._access import Access
from seam.tools_def._actions import Action
from seam.tools_def._outcome import Outcome
from seam.tools_def._permissions import Verdict


class TurnOpened(Value):
    """First record of a turn."""

    kind: Literal["turn_opened"] = "turn_opened"
    agent: str
    session: str
    access: Access
    generation: int


class CallRequested(Value):
    """A call arrived. Declared secrets of `arguments` are redacted."""

    kind: Literal["requested"] = "requested"
    call: str
    tool: str
    arguments: JsonValue
    descriptor: str | None
    source: str | None


class CallDecided(Value):
    """One decision on the way: by policy, hook, grant, approval or the chain itself."""

    kind: Literal["decided"] = "decided"
    call: str
    verdict: Verdict
    by: str
    reason: str
    digest: str | None


class ApprovalAsked(Value):
    """A person is asked."""

    kind: Literal["approval_asked"] = "approval_asked"
    call: str
    approval: str
    digest: str
    reasons: tuple[str, ...]
    summary: str


class ApprovalAnswered(Value):
    """What became of the question. `late` answers start nothing. An edit shows the new arguments; the request shows the old."""

    kind: Literal["approval_answered"] = "approval_answered"
    call: str
    approval: str
    digest: str
    answer: Literal["approve", "edit", "deny", "expired", "cancelled", "error"]
    by: str
    reason: str = ""
    grant: str | None = None
    rule: str | None = None
    arguments: JsonValue = None
    late: bool = False


class CallStarted(Value):
    """Durable before anything runs: the intent and what allowed it."""

    kind: Literal["started"] = "started"
    call: str
    digest: str
    actions: tuple[Action, ...]
    summary: str
    allowed_by: str
    deadline: float


class CallSettled(Value):
    """Last record of a call.

    Attributes:
        ran: whether the tool was started.
        detail: what really happened where it differs from the outcome (a tool that ended after its cancellation, ...).
    """

    kind: Literal["settled"] = "settled"
    call: str
    tool: str
    outcome: Outcome
    ran: bool
    seconds: float
    detail: str = ""


class TurnClosed(Value):
    """The one terminal record of a turn."""

    kind: Literal["turn_closed"] = "turn_closed"
    how: Literal["ended", "failed", "cancelled", "drained"]
    reason: str = ""


class Noted(Value):
    """Anything else worth keeping: a generation published or retired, a grant used or revoked, a hook that raised, ...

    Attributes:
        topic: dotted, `generation.published`, `grant.revoked`, `hook.error`, `terminal.dropped`, ...
    """

    kind: Literal["noted"] = "noted"
    topic: str
    text: str
    call: str | None = None
    data: JsonValue = None


Record = Annotated[
    TurnOpened
    | CallRequested
    | CallDecided
    | ApprovalAsked
    | ApprovalAnswered
    | CallStarted
    | CallSettled
    | TurnClosed
    | Noted,
    Field(discriminator="kind"),
]
