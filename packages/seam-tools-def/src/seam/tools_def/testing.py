"""For the tests of tools, doors and adapters: a call's surroundings without a turn, and a turn without a host."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from seam.tools_def._access import Access, Agent, Owner
from seam.tools_def._context import CallContext
from seam.tools_def._descriptor import Descriptor
from seam.tools_def._outcome import Content, Outcome
from seam.tools_def._ports import QuestionPort
from seam.tools_def._resolved import Resolution, ResolvedCall
from seam.tools_def._services import SkillDocument, SkillEntry
from seam.tools_def._tool import Tool, ToolResult
from seam.tools_def._turns import CallItem, ProgressSink, Turn

__all__ = ["RecordingContext", "ScriptedTurn", "run_tool"]


class RecordingContext(CallContext):
    """One call of an attended session; keeps what the tool reports.

    Attributes:
        reports: progress messages, in order.
        outputs: live output as `(stream, text)`, in order.
        kept: what the tool left for the case of its cancellation, or None.
    """

    def __init__(
        self,
        *,
        agent: Agent | None = None,
        session: str = "s1",
        access: Access | None = None,
        questions: QuestionPort | None = None,
    ) -> None:
        self._agent = agent or Agent(name="default", workspace="/ws")
        self._session = session
        self._access = access or Access(principal="local", platform="cli")
        self._questions = questions
        self.reports: list[str] = []
        self.outputs: list[tuple[str, str]] = []
        self.kept: tuple[JsonValue, tuple[Content, ...]] | None = None

    @property
    def turn(self) -> str:
        return "t1"

    @property
    def call(self) -> str:
        return "c1"

    @property
    def agent(self) -> Agent:
        return self._agent

    @property
    def owner(self) -> Owner:
        return Owner(agent=self._agent.name, session=self._session)

    @property
    def access(self) -> Access:
        return self._access

    @property
    def questions(self) -> QuestionPort | None:
        return self._questions

    def progress(self, message: str, *, done: float | None = None, total: float | None = None) -> None:
        self.reports.append(message)

    def output(self, text: str, *, stream: str = "stdout") -> None:
        self.outputs.append((stream, text))

    def keep(self, value: JsonValue, content: Sequence[Content]) -> None:
        self.kept = (value, tuple(content))


async def run_tool(tool: Tool, arguments: dict[str, JsonValue], context: CallContext) -> ToolResult:
    """Validate, resolve and run as the chain does, without policy, consent, deadline or record.

    Raises:
        pydantic.ValidationError: the arguments do not fit.
        Exception: what the tool raises.
    """
    model = tool.parameters.model_validate(arguments)
    resolution = Resolution() if tool.resolve is None else await tool.resolve(model, context)
    resolved = ResolvedCall(
        tool=tool.name,
        descriptor=tool.describe("plugin:test").digest,
        arguments=model.model_dump(mode="json", by_alias=True),
        subject=resolution.subject,
        effects=resolution.effects or tool.effects,
        actions=resolution.actions,
        deadline=resolution.deadline or tool.deadline or 60,
        summary=resolution.summary,
        plan=model if resolution.plan is None else resolution.plan,
    )
    return await tool.run(resolved, context)


class ScriptedTurn(Turn):
    """A turn for the tests of doors and adapters: it has the given tools, and every call gets the next outcome.

    Args:
        tools: what it lists.
        outcomes: what calls come to, in order.
        notes: its instructions.

    Attributes:
        outcomes: those that no call has got yet.
        calls: tool and arguments of each call, in order.
    """

    def __init__(self, tools: Sequence[Descriptor], *outcomes: Outcome, notes: str = "") -> None:
        self._tools = tuple(tools)
        self._notes = notes
        self.outcomes = list(outcomes)
        self.calls: list[tuple[str, JsonValue]] = []

    @property
    def id(self) -> str:
        return "t1"

    @property
    def generation(self) -> int:
        return 1

    @property
    def agent(self) -> Agent:
        return Agent(name="default", workspace="/ws")

    @property
    def tools(self) -> tuple[Descriptor, ...]:
        return self._tools

    @property
    def skills(self) -> tuple[SkillEntry, ...]:
        return ()

    async def call(
        self,
        tool: str,
        arguments: JsonValue,
        *,
        call: str | None = None,
        progress: ProgressSink | None = None,
    ) -> Outcome:
        self.calls.append((tool, arguments))
        return self.outcomes.pop(0)

    async def call_many(
        self, calls: Sequence[CallItem], *, progress: ProgressSink | None = None
    ) -> tuple[Outcome, ...]:
        raise AssertionError("doors and adapters call one by one")

    async def describe_skill(self, skill: str) -> SkillDocument:
        raise AssertionError("there are no skills")

    def instructions(self, *, limit: int | None = None) -> str:
        return self._notes if limit is None else self._notes[:limit]

    async def fail(self, reason: str) -> None:
        raise AssertionError("nothing fails a turn here")
