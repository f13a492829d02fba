"""What the chain stands on, scripted: events, leases, policies, people, journals."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar, cast

import anyio
from pydantic import JsonValue

from seam.kernel import Around, Decide, Observe
from seam.tools_def import (
    GLOBAL,
    Access,
    Agent,
    ApprovalAnswer,
    ApprovalPort,
    ApprovalRequest,
    CallInfo,
    Catalogue,
    Decision,
    Entry,
    GrantBook,
    Lease,
    LeaseInvalid,
    NoteSource,
    OpenTurn,
    Outcome,
    Owner,
    Permissions,
    ProjectionRequest,
    QuestionPort,
    Record,
    Registered,
    ResolvedCall,
    ServiceLife,
    SettledCall,
    SkillService,
    Tool,
    ToolService,
    ToolSource,
    TurnOpening,
    after_call,
    around_call,
    before_call,
    settled,
)
from seam.tools_runtime import MemoryJournal, RuntimeConfig, open_runtime
from seam.tools_runtime._runtime import Runtime

P = TypeVar("P")
R = TypeVar("R")

ANN = Access(principal="ann", platform="cli")
DEFAULT = Agent(name="default", workspace="/ws")
OWNER = Owner(agent="default", session="s1")

Next = Callable[[CallInfo], Awaitable[Outcome]]
Before = Callable[[CallInfo], Awaitable[Decision | None]]
AroundHook = Callable[[CallInfo, Next], Awaitable[Outcome]]


@dataclass(frozen=True)
class Said(Generic[R]):
    """One listener's answer."""

    plugin: str
    value: R | None
    error: BaseException | None = None


class FakeEmitter:
    """Events with listeners in lists; kinds of errors are handled as the kernel does."""

    def __init__(self) -> None:
        self.before: list[tuple[str, Before]] = []
        self.arounds: list[AroundHook] = []
        self.afters: list[AroundHook] = []
        self.observers: list[Callable[[SettledCall], Awaitable[None]]] = []
        self.settled: list[SettledCall] = []

    async def observe(self, event: Observe[P], payload: P, /) -> None:
        assert event is cast(object, settled)
        self.settled.append(cast(SettledCall, payload))
        for observer in self.observers:
            await observer(cast(SettledCall, payload))

    async def decide(self, event: Decide[P, R], payload: P, /) -> Sequence[Said[R]]:
        assert event is cast(object, before_call)
        answers: list[Said[R]] = []
        for plugin, listener in self.before:
            try:
                answers.append(Said(plugin, cast("R | None", await listener(cast(CallInfo, payload)))))
            except Exception as error:
                answers.append(Said(plugin, None, error))
        return answers

    async def around(self, event: Around[P, R], payload: P, innermost: Callable[[P], Awaitable[R]], /) -> R:
        hooks = {around_call: self.arounds, after_call: self.afters}[cast("Around[CallInfo, Outcome]", event)]
        step = cast(Next, innermost)
        for hook in reversed(hooks):
            step = _inside(hook, step)
        return cast(R, await step(cast(CallInfo, payload)))


def _inside(hook: AroundHook, step: Next) -> Next:
    async def call(payload: CallInfo) -> Outcome:
        return await hook(payload, step)

    return call


class FakeLease(Lease):
    """A hold on a generation that a test can retire."""

    def __init__(self) -> None:
        self.retired = ""
        self.released = 0

    @property
    def generation(self) -> int:
        return 7

    @property
    def live(self) -> bool:
        return not self.retired and not self.released

    def check(self) -> None:
        if self.released:
            raise LeaseInvalid("the lease was released", generation=7)
        if self.retired:
            raise LeaseInvalid(self.retired, generation=7)

    async def release(self) -> None:
        self.released += 1


class ScriptedPermissions(Permissions):
    """Answers what the test sets."""

    def __init__(
        self, decision: Decision | Exception | None = None, held: frozenset[str] = frozenset()
    ) -> None:
        self.decision = decision
        self.held = held
        self.asked: list[ResolvedCall] = []
        self.broken = False

    def holds(self, permission: str, agent: Agent, access: Access) -> bool:
        if self.broken:
            raise RuntimeError("the directory is down")
        return permission in self.held

    async def decide(self, resolved: ResolvedCall, agent: Agent, access: Access) -> Decision | None:
        self.asked.append(resolved)
        if isinstance(self.decision, Exception):
            raise self.decision
        return self.decision

    def covers(self, rule: str, resolved: ResolvedCall, agent: Agent, access: Access) -> bool:
        return resolved.tool == rule

    async def explain(self, resolved: ResolvedCall, agent: Agent, access: Access) -> JsonValue:
        return None


class ScriptedPort(ApprovalPort):
    """A person who gives the next answer of a list, or is away when there is none left."""

    def __init__(self, *answers: ApprovalAnswer | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[ApprovalRequest] = []
        self.asked = anyio.Event()

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.requests.append(request)
        self.asked.set()
        if not self.answers:
            await anyio.sleep_forever()
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class BreakingJournal(MemoryJournal):
    """Waits like a journal on a disk; refuses, or hangs on, appends that hold a record of one kind."""

    def __init__(self) -> None:
        super().__init__(entries=10_000)
        self.breaks: str | None = None
        self.how: Literal["raise", "hang"] = "raise"

    async def write(self, turn: str, *records: Record) -> None:
        await self.append(turn, *records)

    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        if any(record.kind == self.breaks for record in records):
            if self.how == "hang":
                await anyio.sleep_forever()
            raise OSError(28, "No space left on device")
        # a journal that writes to a disk waits: whoever was cancelled before has to be able to wait for it all the same
        await anyio.lowlevel.checkpoint()
        return await super().append(turn, *records)


class PlainLife(ServiceLife):
    """Starts the service where it is asked; for tests without plugins."""

    def __init__(self, service: ToolService | SkillService) -> None:
        self._service = service

    async def start(self) -> None:
        await self._service.start()


def registered(
    service: ToolService | SkillService, owner: str = GLOBAL, source: str = "plugin:outside"
) -> Registered:
    """A registration as the integration contributes it."""
    return Registered(service=service, owner=owner, source=source, life=PlainLife(service))


def offered(*tools: Tool, owner: str = GLOBAL, source: str = "plugin:p") -> tuple[ToolSource, ...]:
    """Contributed tools."""
    return tuple(ToolSource(tool=tool, source=source, owner=owner) for tool in tools)


@dataclass
class Stage:
    """One runtime, one generation, and turns on it."""

    runtime: Runtime
    journal: BreakingJournal = field(default_factory=BreakingJournal)
    emitter: FakeEmitter = field(default_factory=FakeEmitter)
    grants: GrantBook = field(default_factory=GrantBook)
    lease: FakeLease = field(default_factory=FakeLease)
    permissions: ScriptedPermissions | None = None
    approval: ApprovalPort | None = None
    questions: QuestionPort | None = None
    agents: tuple[Agent, ...] = (DEFAULT,)
    opened: int = 0

    async def project(
        self,
        *tools: Tool | ToolSource,
        services: Sequence[Registered] = (),
        notes: Sequence[NoteSource] = (),
    ) -> Catalogue:
        """Fold; plain tools are global."""
        sources = [item if isinstance(item, ToolSource) else offered(item)[0] for item in tools]
        return await self.runtime.project(
            ProjectionRequest(
                agents=self.agents, tools=tuple(sources), services=tuple(services), notes=tuple(notes)
            )
        )

    async def open(
        self,
        catalogue: Catalogue,
        *,
        access: Access = ANN,
        agent: Agent | None = None,
        session: str = "s1",
        lease: Lease | None = None,
    ) -> OpenTurn:
        """Open a turn; the caller closes it."""
        self.opened += 1
        return await self.runtime.open(
            TurnOpening(
                turn=f"t{self.opened}",
                agent=agent or self.agents[0],
                session=session,
                access=access,
                catalogue=catalogue,
                lease=lease or self.lease,
                journal=self.journal,
                emitter=self.emitter,
                grants=self.grants,
                permissions=self.permissions,
                approval=self.approval,
                questions=self.questions,
            )
        )

    @asynccontextmanager
    async def turn(
        self, *tools: Tool | ToolSource, services: Sequence[Registered] = (), access: Access = ANN
    ) -> AsyncGenerator[OpenTurn]:
        """A turn on a fresh generation with these tools."""
        turn = await self.open(await self.project(*tools, services=services), access=access)
        try:
            yield turn
        finally:
            await turn.close()

    async def records(self, call: str | None = None, turn: str = "t1") -> list[Record]:
        """What was written of a turn, or of one of its calls."""
        return [
            entry.record
            for entry in await self.journal.read(turn)
            if call is None or getattr(entry.record, "call", None) == call
        ]

    async def kinds(self, call: str = "call-1", turn: str = "t1") -> list[str]:
        """The kinds of a call's records, in order."""
        return [record.kind for record in await self.records(call, turn)]


@asynccontextmanager
async def staged(**config: object) -> AsyncGenerator[Stage]:
    """A stage; `config` are fields of the runtime's configuration."""
    async with open_runtime(RuntimeConfig.model_validate(config)) as runtime:
        yield Stage(runtime)
