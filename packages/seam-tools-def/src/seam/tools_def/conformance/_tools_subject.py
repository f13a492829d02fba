"""A runtime under test, and what it stands on, scripted."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Generic, TypeVar, cast

import anyio
from pydantic import BaseModel, JsonValue

from seam.kernel import Around, Decide, Observe
from seam.tools_def._access import Access, Agent
from seam.tools_def._chain import entry_hash, record_of, record_text
from seam.tools_def._effects import Concurrency, Effects, RequiresApproval, effects
from seam.tools_def._errors import JournalUnavailable, LeaseInvalid
from seam.tools_def._grant_book import GrantBook
from seam.tools_def._hooks import CallInfo, before_call
from seam.tools_def._journal import Damage, Entry, Journal, JournalQuery, TurnSummary
from seam.tools_def._permissions import Decision, Permissions
from seam.tools_def._ports import ApprovalAnswer, ApprovalPort, ApprovalRequest
from seam.tools_def._records import Record
from seam.tools_def._resolved import Resolution, ResolvedCall
from seam.tools_def._services import GLOBAL, Registered, ServiceLife, SkillService, ToolService
from seam.tools_def._tool import Tool, ToolResult
from seam.tools_def._tools import Lease, OpenTurn, ProjectionRequest, Tools, ToolSource, TurnOpening

P = TypeVar("P")
R = TypeVar("R")

AGENT = Agent(name="default", workspace="/workspace")
ANN = Access(principal="ann", platform="cli")
PATIENCE = 60.0
"""Seconds that a check waits for what must come; only a broken implementer lets it pass."""


@dataclass(frozen=True, kw_only=True)
class ToolsSubject:
    """How the checks get at a runtime.

    Attributes:
        name: for the behaviour card.
        open: opens a runtime with a grace of at most a few seconds; leaving the context ends it.
    """

    name: str
    open: Callable[[], AbstractAsyncContextManager[Tools]]


class ListJournal(Journal):
    """The records of each turn in a list; `fails_on` names a kind of record that cannot be written."""

    def __init__(self) -> None:
        self.turns_kept: dict[str, list[Entry]] = {}
        self.fails_on: str | None = None

    @property
    def durability(self) -> str:
        return "nothing survives the check"

    async def append(self, turn: str, *records: Record) -> tuple[Entry, ...]:
        if any(record.kind == self.fails_on for record in records):
            raise JournalUnavailable("no space left", path="(memory)", reason="full")
        kept = self.turns_kept.setdefault(turn, [])
        for record in records:
            previous = kept[-1].hash if kept else f"anchor of {turn}"
            time, text = datetime.now(UTC), record_text(record)
            digest = entry_hash(turn, len(kept), time, text, previous)
            entry = Entry(
                turn=turn,
                sequence=len(kept),
                time=time,
                record=record_of(text),
                previous=previous,
                hash=digest,
            )
            kept.append(entry)
        return tuple(kept[-len(records) :])

    async def read(self, turn: str, *, after: int = -1) -> Sequence[Entry]:
        return tuple(self.turns_kept.get(turn, [])[after + 1 :])

    async def query(self, query: JournalQuery) -> AsyncIterator[Entry]:
        for entry in [entry for kept in self.turns_kept.values() for entry in kept]:
            yield entry

    async def follow(self, query: JournalQuery) -> AsyncIterator[Entry]:
        async for entry in self.query(query):
            yield entry

    async def turns(self, query: JournalQuery) -> Sequence[TurnSummary]:
        return ()

    async def verify(self) -> Sequence[Damage]:
        return ()


@dataclass(frozen=True)
class _Said(Generic[R]):
    plugin: str
    value: R | None
    error: BaseException | None = None


class Hooks:
    """Events without a kernel: listeners of `before_call` in a list, nothing around and behind."""

    def __init__(self) -> None:
        self.before: list[Callable[[CallInfo], Decision | None]] = []

    async def observe(self, event: Observe[P], payload: P, /) -> None:
        return

    async def decide(self, event: Decide[P, R], payload: P, /) -> Sequence[_Said[R]]:
        answers: list[_Said[R]] = []
        listeners = self.before if event is cast(object, before_call) else []
        for place, listener in enumerate(listeners):
            try:
                value = cast("R | None", listener(cast(CallInfo, payload)))
                answers.append(_Said(f"hook-{place}", value))
            except Exception as error:  # as the kernel: an answer with an error
                answers.append(_Said(f"hook-{place}", None, error))
        return answers

    async def around(self, event: Around[P, R], payload: P, innermost: Callable[[P], Awaitable[R]], /) -> R:
        return await innermost(payload)


class Person(ApprovalPort):
    """Gives the next answer of a list; without one left she does not answer at all."""

    def __init__(self, *answers: ApprovalAnswer) -> None:
        self.answers = list(answers)
        self.requests: list[ApprovalRequest] = []
        self.asked = anyio.Event()

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.requests.append(request)
        self.asked.set()
        if not self.answers:
            await anyio.sleep_forever()
        return self.answers.pop(0)


class Rules(Permissions):
    """One decision for everything; a rule is the name of a tool."""

    def __init__(self, decision: Decision | None = None, held: frozenset[str] = frozenset()) -> None:
        self.decision = decision
        self.held = held
        self.asked = 0
        self.broken = False

    def holds(self, permission: str, agent: Agent, access: Access) -> bool:
        return permission in self.held

    async def decide(self, resolved: ResolvedCall, agent: Agent, access: Access) -> Decision | None:
        self.asked += 1
        if self.broken:
            raise RuntimeError("the policy is broken")
        return self.decision

    def covers(self, rule: str, resolved: ResolvedCall, agent: Agent, access: Access) -> bool:
        return rule == resolved.tool

    async def explain(self, resolved: ResolvedCall, agent: Agent, access: Access) -> JsonValue:
        return None


class HeldLease(Lease):
    """A lease that a check retires."""

    def __init__(self) -> None:
        self.retired = False
        self.released = False

    @property
    def generation(self) -> int:
        return 3

    @property
    def live(self) -> bool:
        return not self.retired and not self.released

    def check(self) -> None:
        if not self.live:
            raise LeaseInvalid("generation 3 is not live any more", generation=3)

    async def release(self) -> None:
        self.released = True


class _Life(ServiceLife):
    def __init__(self, service: ToolService | SkillService) -> None:
        self._service = service

    async def start(self) -> None:
        await self._service.start()


def registered(service: ToolService | SkillService, source: str = "plugin:outside") -> Registered:
    """A global registration."""
    return Registered(service=service, owner=GLOBAL, source=source, life=_Life(service))


class Parameters(BaseModel):
    """Parameters of the tools of this kit."""

    text: str = ""


@dataclass
class Deed:
    """A tool that remembers what it did, and when."""

    name: str = "deed"
    effects: Effects = field(default_factory=lambda: effects("writes"))
    requires_approval: RequiresApproval = "on-risk"
    concurrency: Concurrency = "exclusive"
    deadline: float | None = None
    done: list[str] = field(default_factory=list[str])
    before: Callable[[str], Awaitable[None]] | None = None
    subject: JsonValue = None
    result: object = "done"

    def tool(self) -> Tool:
        """As a contribution."""

        async def resolve(parameters: BaseModel, context: object) -> Resolution:
            return Resolution(subject=self.subject, plan=cast(Parameters, parameters).text)

        async def run(resolved: ResolvedCall, context: object) -> ToolResult:
            text = str(resolved.plan)
            if self.before is not None:
                await self.before(text)
            self.done.append(text)
            if isinstance(self.result, BaseException):
                raise self.result
            return cast(ToolResult, self.result)

        return Tool(
            name=self.name,
            description="A tool of the conformance kit.",
            parameters=Parameters,
            resolve=resolve,
            run=run,
            effects=self.effects,
            requires_approval=self.requires_approval,
            concurrency=self.concurrency,
            deadline=self.deadline,
        )


@dataclass
class Scene:
    """One runtime and everything around a turn on it."""

    tools: Tools
    journal: ListJournal = field(default_factory=ListJournal)
    hooks: Hooks = field(default_factory=Hooks)
    grants: GrantBook = field(default_factory=GrantBook)
    lease: HeldLease = field(default_factory=HeldLease)
    rules: Rules | None = None
    person: Person | None = None

    async def open(self, *deeds: Deed, services: Sequence[Registered] = ()) -> OpenTurn:
        """A turn on a fresh catalogue."""
        catalogue = await self.tools.project(
            ProjectionRequest(
                agents=(AGENT,),
                tools=tuple(
                    ToolSource(tool=deed.tool(), source="plugin:kit", owner=GLOBAL) for deed in deeds
                ),
                services=tuple(services),
            )
        )
        return await self.tools.open(
            TurnOpening(
                turn=f"turn-{uuid.uuid4().hex}",
                agent=AGENT,
                session="s1",
                access=ANN,
                catalogue=catalogue,
                lease=self.lease,
                journal=self.journal,
                emitter=self.hooks,
                grants=self.grants,
                permissions=self.rules,
                approval=self.person,
                questions=None,
            )
        )

    async def records(self, turn: OpenTurn, call: str | None = None) -> list[Record]:
        """What was written of a turn, or of one call in it."""
        return [
            entry.record
            for entry in await self.journal.read(turn.id)
            if call is None or getattr(entry.record, "call", None) == call
        ]

    async def kinds(self, turn: OpenTurn, call: str) -> list[str]:
        """The kinds of a call's records."""
        return [record.kind for record in await self.records(turn, call)]


@asynccontextmanager
async def scene(subject: ToolsSubject) -> AsyncGenerator[Scene]:
    """A scene on a fresh runtime."""
    async with subject.open() as tools:
        yield Scene(tools)
