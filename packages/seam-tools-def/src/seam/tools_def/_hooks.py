"""Policy hooks: events that this definition owns. Policy attaches to them with `ctx.on`."""

from __future__ import annotations

from pydantic import ConfigDict

from seam.kernel import Around, Decide, Observe, Value
from seam.tools_def._access import Access, Agent
from seam.tools_def._descriptor import Descriptor
from seam.tools_def._outcome import Outcome
from seam.tools_def._permissions import Decision
from seam.tools_def._resolved import ResolvedCall


class CallInfo(Value):
    """What a hook is told about a call."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    turn: str
    call: str
    agent: Agent
    session: str
    access: Access
    descriptor: Descriptor
    resolved: ResolvedCall


class SettledCall(Value):
    """A call that ended, for observers.

    Attributes:
        resolved: None when it ended before it was resolved.
        seconds: from request to settlement.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    turn: str
    call: str
    agent: Agent
    session: str
    tool: str
    resolved: ResolvedCall | None
    outcome: Outcome
    seconds: float


before_call: Decide[CallInfo, Decision | None] = Decide("tools.before_call")
"""Allow, deny or ask, with a reason; None abstains. A listener that raises denies. A deny cannot be undone by a later hook."""

around_call: Around[CallInfo, Outcome] = Around("tools.around_call")
"""Wraps the run (retry, metrics). A listener that raises makes a failed outcome that names it."""

after_call: Around[CallInfo, Outcome] = Around("tools.after_call")
"""Replaces content or adds context; its innermost is the outcome of the run. A listener that raises is recorded; the outcome stays."""

settled: Observe[SettledCall] = Observe("tools.settled")
"""Told after the record is written. Cannot change anything."""
