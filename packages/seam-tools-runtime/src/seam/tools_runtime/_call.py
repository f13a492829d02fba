"""The state of one call on its way through the chain."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pydantic import JsonValue

from seam.tools_def import (
    CallDecided,
    CallInfo,
    Content,
    Noted,
    Outcome,
    Progress,
    ProgressSink,
    Record,
    Refused,
    ResolvedCall,
    TurnOpening,
    Verdict,
)
from seam.tools_runtime._bound_tool import BoundTool
from seam.tools_runtime._call_context import LiveContext
from seam.tools_runtime._worker import Worker

if TYPE_CHECKING:
    from seam.tools_runtime._session import Session


class Ending(Exception):
    """The chain is over before the tool runs; carries the outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.kind)
        self.outcome = outcome


class Call:
    """One call. Only its own worker changes it, and after a desertion the one who waited.

    Attributes:
        step: what it is doing: `policy`, `resolve`, `approval`, `start`, `run`, `after`, `settle`, `observe`.
        pending: records that are written with the next that must be durable.
        begun: whether its worker was started.
        ran: whether the tool was started.
        info: what hooks are told; set when it is resolved.
        reached: how it ended before the hooks behind it were asked.
        kept: what the tool left for the case of its cancellation.
        over: whether it is settled; its context is dead then.
    """

    __slots__ = (
        "arguments", "begun", "context", "id", "info", "kept", "opening", "outcome", "over", "pending", "ran", "reached", "resolved",
        "session", "since", "sink", "sink_broken", "step", "tool", "tool_name", "worker",
    )  # fmt: skip

    def __init__(
        self,
        session: Session,
        call_id: str,
        tool_name: str,
        arguments: JsonValue,
        sink: ProgressSink | None,
    ) -> None:
        self.session = session
        self.opening: TurnOpening = session.opening
        self.id = call_id
        self.tool_name = tool_name
        self.arguments = arguments
        self.sink = sink
        self.since = time.monotonic()
        self.step = "policy"
        self.pending: list[Record] = []
        self.tool: BoundTool | None = None
        self.resolved: ResolvedCall | None = None
        self.info: CallInfo | None = None
        self.reached: Outcome | None = None
        self.begun = False
        self.ran = False
        self.kept: tuple[JsonValue, tuple[Content, ...]] | None = None
        self.over = False
        self.outcome: Outcome | None = None
        self.sink_broken = False
        self.worker: Worker | None = None
        self.context = LiveContext(self)

    @property
    def seconds(self) -> float:
        """Since it was requested."""
        return time.monotonic() - self.since

    def decided(self, verdict: Verdict, by: str, reason: str) -> None:
        """One decision for the record."""
        digest = self.resolved.digest if self.resolved is not None else None
        self.pending.append(
            CallDecided.trusted(call=self.id, verdict=verdict, by=by, reason=reason, digest=digest)
        )

    def refuse(self, policy: str, reason: str) -> Ending:
        """The end by a refusal, decided by the chain itself; to be raised."""
        self.decided("deny", policy, reason)
        return Ending(Refused(policy=policy, reason=reason))

    def note(self, topic: str, text: str) -> None:
        """Something worth keeping that decides nothing."""
        self.pending.append(Noted(topic=topic, text=text, call=self.id))

    async def flush(self, *records: Record) -> None:
        """Write what is pending, and these, from the worker of this call. Raises `TurnFailed`."""
        pending, self.pending = self.pending, []
        await self.session.write(*pending, *records, worker=self.worker)

    def show(self, progress: Progress) -> None:
        """Hand progress on; a sink that raises is recorded once and not asked again."""
        if self.sink is None or self.sink_broken:
            return
        try:
            self.sink(progress)
        except Exception as error:  # a door's display must not fail a tool
            self.sink_broken = True
            self.note("progress.error", f"the progress sink raised {type(error).__name__}: {error}")
