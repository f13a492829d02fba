"""A gate whose turns do what the test says."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
from pydantic import JsonValue

from seam.tools_def import (
    Access,
    Agent,
    ApprovalPort,
    ApprovalRequest,
    Approve,
    Completed,
    Descriptor,
    Edit,
    Outcome,
    Owner,
    Progress,
    ProgressSink,
    PublishedTools,
    QuestionPort,
    Refused,
    ResolvedCall,
    Resource,
    Text,
    Turn,
    TurnGate,
    effects,
)
from seam.tools_def.testing import ScriptedTurn

PARAMETERS: JsonValue = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "additionalProperties": False,
}
OUTPUT: JsonValue = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

ECHO = Descriptor(
    name="echo",
    description="Say it again.",
    parameters=PARAMETERS,
    output=OUTPUT,
    effects=effects("reads"),
    source="x",
)
ASK = Descriptor(
    name="ask",
    description="Needs a yes.",
    parameters=PARAMETERS,
    effects=effects("executes", "network"),
    source="x",
)
HANG = Descriptor(
    name="hang", description="Never ends.", parameters=PARAMETERS, effects=effects(), source="x"
)
FILE = Descriptor(
    name="file", description="Points at a file.", parameters=PARAMETERS, effects=effects(), source="x"
)


class FakeGate(TurnGate):
    """Remembers what was opened, called, cancelled and ended."""

    def __init__(self) -> None:
        self.opened: list[tuple[str, str, Access]] = []
        self.calls: list[tuple[str, JsonValue]] = []
        self.cancelled: list[str] = []
        self.ended: list[tuple[str, str]] = []
        self.started = anyio.Event()
        self.observers: list[Callable[[PublishedTools], None]] = []
        self.tools: tuple[Descriptor, ...] = (ECHO, ASK, HANG, FILE)
        self.path = "/nowhere"

    def open(
        self,
        agent: str,
        *,
        session: str,
        access: Access,
        approval: ApprovalPort | None = None,
        questions: QuestionPort | None = None,
        parallel: bool = False,
    ) -> AbstractAsyncContextManager[Turn]:
        self.opened.append((agent, session, access))
        return self._open(session, access, approval)

    @asynccontextmanager
    async def _open(
        self, session: str, access: Access, approval: ApprovalPort | None
    ) -> AsyncGenerator[Turn]:
        yield FakeTurn(self, session, access, approval)

    async def end_session(self, agent: str, session: str) -> None:
        self.ended.append((agent, session))

    def agents(self) -> tuple[Agent, ...]:
        return (Agent(name="default", workspace="/ws"),)

    def subscribe(self, observer: Callable[[PublishedTools], None]) -> Callable[[], None]:
        self.observers.append(observer)
        return lambda: self.observers.remove(observer) if observer in self.observers else None

    def publish(self, *tools: Descriptor) -> None:
        """A generation with other tools."""
        self.tools = tools
        for observer in list(self.observers):
            observer(PublishedTools(generation=2, digests={}))


class FakeTurn(ScriptedTurn):
    """echo, ask, hang, file."""

    def __init__(self, gate: FakeGate, session: str, access: Access, approval: ApprovalPort | None) -> None:
        super().__init__(gate.tools, notes="echo repeats.")
        self._gate = gate
        self._session = session
        self._access = access
        self._approval = approval

    async def call(
        self,
        tool: str,
        arguments: JsonValue,
        *,
        call: str | None = None,
        progress: ProgressSink | None = None,
    ) -> Outcome:
        self._gate.calls.append((tool, arguments))
        self._gate.started.set()
        if tool == "hang":
            try:
                await anyio.sleep_forever()
            finally:
                self._gate.cancelled.append(tool)
        if tool == "ask":
            return await self._ask(arguments)
        if tool == "file":
            link = Resource(path=self._gate.path, media_type="text/plain", size=5, title="complete stdout")
            return Completed(content=(Text(text="cut"), link))
        if tool != "echo":
            return Refused(policy="visibility", reason=f"there is no tool {tool!r}")
        if progress is not None:
            progress(Progress(call="c", kind="progress", text="half way", done=1.0, total=2.0))
        text = arguments.get("text") if isinstance(arguments, dict) else None
        return Completed(value={"text": text}, content=(Text(text=str(text)),))

    async def _ask(self, arguments: JsonValue) -> Outcome:
        if self._approval is None:
            return Refused(policy="approval", reason="nobody is there to be asked")
        resolved = ResolvedCall(
            tool="ask",
            descriptor="d",
            arguments=arguments,
            effects=effects("executes"),
            deadline=1,
            summary="rm -r build",
        )
        answer = await self._approval.ask(
            ApprovalRequest(
                approval="a",
                call="c",
                resolved=resolved,
                reasons=("it runs programs",),
                rules=("rm in build",),
                owner=Owner(agent="default", session=self._session),
                access=self._access,
            )
        )
        if isinstance(answer, Approve):
            return Completed(
                content=(Text(text=f"allowed by {answer.by}: {answer.grant} {answer.rule or ''}".strip()),)
            )
        assert not isinstance(answer, Edit)
        return Refused(policy="approval", reason=f"{answer.kind}")
