"""A runtime that only folds names, plugins that write down what happens to them, and a host's worth of generations over both."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import anyio
from pydantic import BaseModel, ConfigDict, JsonValue

from seam.host._blueprint import Blueprint
from seam.host._control import GenerationControl
from seam.host._generation import Generation
from seam.host._outcomes import ReloadOutcome
from seam.host._prepare import PreparedCandidate, Preparer
from seam.host._slots import RowPlugin
from seam.kernel import Context, Kernel, Plugin, Service
from seam.tools_def import (
    Access,
    Agent,
    CallItem,
    Catalogue,
    Descriptor,
    Grants,
    Journal,
    OpenTurn,
    Outcome,
    ProgressSink,
    ProjectionProblem,
    ProjectionRejected,
    ProjectionRequest,
    SkillDocument,
    SkillEntry,
    Tools,
    TurnOpening,
)

AGENT = Agent(name="default", workspace="/ws")


class NamesCatalogue(Catalogue):
    """Remembers what it was made of."""

    def __init__(self, request: ProjectionRequest) -> None:
        self.request = request

    @property
    def left_out(self) -> tuple[ProjectionProblem, ...]:
        return ()

    def tools(self, agent: str) -> tuple[Descriptor, ...]:
        return tuple(
            item.tool.describe(item.source) for item in self.request.tools if item.owner in ("global", agent)
        )

    def skills(self, agent: str) -> tuple[SkillEntry, ...]:
        return ()

    def digest(self, agent: str) -> str:
        return ",".join(tool.name for tool in self.tools(agent))


class NamesTurn(OpenTurn):
    """A turn that cannot call anything; it only ends."""

    def __init__(self, opening: TurnOpening) -> None:
        self.opening = opening
        self.closed: tuple[str, str] | None = None

    @property
    def id(self) -> str:
        return self.opening.turn

    @property
    def generation(self) -> int:
        return self.opening.lease.generation

    @property
    def agent(self) -> Agent:
        return self.opening.agent

    @property
    def tools(self) -> tuple[Descriptor, ...]:
        return self.opening.catalogue.tools(self.agent.name)

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
        raise AssertionError("these turns are not for calling")

    async def call_many(
        self, calls: Sequence[CallItem], *, progress: ProgressSink | None = None
    ) -> tuple[Outcome, ...]:
        raise AssertionError("these turns are not for calling")

    async def describe_skill(self, skill: str) -> SkillDocument:
        raise AssertionError("there are no skills")

    def instructions(self, *, limit: int | None = None) -> str:
        return ""

    async def fail(self, reason: str) -> None:
        await self.close("failed", reason)

    async def close(self, how: str = "ended", reason: str = "") -> None:
        if self.closed is None:
            self.closed = (how, reason)
            await self.opening.lease.release()


class NamesTools(Tools):
    """Refuses two tools of one name; folds the rest."""

    async def project(self, request: ProjectionRequest) -> Catalogue:
        names = [item.tool.name for item in request.tools]
        if len(names) != len(set(names)):
            raise ProjectionRejected(f"a name is offered twice: {names}")
        return NamesCatalogue(request)

    async def open(self, opening: TurnOpening) -> OpenTurn:
        return NamesTurn(opening)


class Options(BaseModel):
    """What a recording plugin is told to do."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    text: str = ""
    fail: bool = False
    fail_tear_down: bool = False
    hang: bool = False


@dataclass
class Log:
    """What happened to the recording plugins, in order."""

    lines: list[str] = field(default_factory=list[str])
    objects: dict[str, list[object]] = field(default_factory=dict[str, "list[object]"])


def row(
    log: Log,
    table: str,
    *,
    requires: Sequence[type[Service]] = (),
    provides: type[Service] | None = None,
    give: Service | None = None,
    contribute: object = None,
    optional: bool = False,
    **options: object,
) -> RowPlugin:
    """A row whose plugin writes down its set-up and tear-down."""

    async def set_up(ctx: Context, config: Options) -> AsyncIterator[None]:
        log.lines.append(f"+{table}")
        if config.fail:
            raise RuntimeError(f"{table} was told to fail")
        if config.hang:
            await anyio.sleep_forever()
        made = object()
        log.objects.setdefault(table, []).append(made)
        if provides is not None:
            ctx.provide(provides, give if give is not None else provides())
        if contribute is not None:
            ctx.contribute(contribute)
        yield
        log.lines.append(f"-{table}")
        if config.fail_tear_down:
            raise RuntimeError(f"{table} was told to fail at its end")

    plugin = Plugin[BaseModel](
        name=table,
        requires=tuple(requires),
        optional=(),
        provides=(provides,) if provides is not None else (),
        config=Options,
        set_up=set_up,  # pyright: ignore[reportArgumentType] - the configuration is of that model
        module="tests",
        doc="",
    )
    return RowPlugin(table=table, plugin=plugin, config=options, distribution="tests 1", optional=optional)


def tools_row(log: Log) -> RowPlugin:
    """The fake runtime as a row."""
    return row(log, "implement.tools", provides=Tools, give=NamesTools())


@dataclass
class Bench:
    """Generations over a kernel, without deployment files."""

    kernel: Kernel
    control: GenerationControl
    preparer: Preparer
    notes: list[str]

    async def publish(self, *rows: RowPlugin, **more: object) -> ReloadOutcome:
        """Prepare and publish a listing."""
        blueprint = Blueprint(agents=(AGENT,), base=rows, **more)  # pyright: ignore[reportArgumentType]

        async def prepare(published: Generation | None, number: int) -> PreparedCandidate:
            return await self.preparer(blueprint, published, number)

        return await self.control.replace(prepare)

    async def open_turn(self) -> NamesTurn:
        """A turn on the published generation, as the gate opens it."""
        generation = self.control.admit()
        lease = generation.lease()
        turn = NamesTurn(
            TurnOpening(
                turn="t",
                agent=AGENT,
                session="s",
                access=Access(principal="p", platform="tests"),
                catalogue=generation.contents.catalogue,
                lease=lease,
                journal=cast(Journal, None),  # these turns record nothing
                emitter=generation.place("default"),
                grants=cast(Grants, None),  # and ask nobody
                permissions=None,
                approval=None,
                questions=None,
            )
        )
        generation.occupied_by(lease, turn)
        return turn


@asynccontextmanager
async def bench(*, drain: float = 5, timeout: float = 5) -> AsyncGenerator[Bench]:
    """Everything under a kernel of its own; stopped at the end."""
    notes: list[str] = []

    async def note(topic: str, text: str, data: dict[str, object]) -> None:
        notes.append(topic)

    body: Exception | None = None
    async with Kernel(on_fault=lambda fault: None) as kernel, anyio.create_task_group() as tasks:
        control = GenerationControl(note, drain=drain)
        control.run_in(tasks)
        made = Bench(kernel, control, Preparer(kernel.root, {}, timeout=timeout), notes)
        try:
            yield made
        except Exception as error:
            body = error  # raised below: the task groups would wrap it
        finally:
            with anyio.CancelScope(shield=True):
                await control.stop(budget=1)
    if body is not None:
        raise body
