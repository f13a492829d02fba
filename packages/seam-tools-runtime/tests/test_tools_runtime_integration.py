"""Services from outside, registered by plugins of a real kernel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import anyio
import pytest
from tools_runtime_fakes import ANN, DEFAULT, FakeLease, Stage, staged
from tools_runtime_services import Library, Provider, schema

from seam.kernel import Context, Kernel, NoConfig, Plugin, Scope, UndeclaredService, plugin
from seam.tools_def import (
    GLOBAL,
    CallInfo,
    Catalogue,
    Decision,
    DuplicateRegistration,
    GrantBook,
    InvalidTool,
    Outcome,
    ProjectionRejected,
    ProjectionRequest,
    Refused,
    Registered,
    RegistrationSealed,
    SeamIntegration,
    SettledCall,
    SkillService,
    Tools,
    ToolService,
    ToolSource,
    TurnOpening,
    after_call,
    around_call,
    before_call,
    effects,
    settled,
    tool,
)
from seam.tools_runtime import MemoryJournal, integration, memory, runtime

pytestmark = pytest.mark.anyio


@dataclass
class Outside:
    """What a plugin registers in its set-up, and what it got back."""

    services: list[tuple[str, object]]
    disposers: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    contexts: list[Context] = field(default_factory=list[Context])

    def plugin(self, name: str = "outside") -> Plugin[NoConfig]:
        @plugin(requires=[SeamIntegration], name=name)
        async def outside(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
            self.contexts.append(ctx)
            for owner, service in self.services:
                self.disposers.append(self.register(owner, service))
            yield

        return outside

    def register(self, owner: str, service: object) -> Callable[[], None]:
        ctx = self.contexts[-1]
        if isinstance(service, SkillService):
            return ctx[SeamIntegration].register_skill_service(owner, service, ctx=ctx)
        assert isinstance(service, ToolService) or not hasattr(service, "execute")
        return ctx[SeamIntegration].register_tool_service(owner, service, ctx=ctx)  # pyright: ignore[reportArgumentType]


async def projected(stage: Stage, scope: Scope) -> Catalogue:
    await scope.settle()
    services = tuple(item for _, item in scope.contributions(Registered))
    return await stage.runtime.project(ProjectionRequest(agents=(DEFAULT,), tools=(), services=services))


def names(catalogue: Catalogue) -> list[str]:
    return [descriptor.name for descriptor in catalogue.tools("default")]


async def test_t_03_a_disposer_is_idempotent_and_removes_exactly_its_own_registration() -> None:
    outside = Outside([(GLOBAL, Provider("git", schema("old")))])
    async with Kernel() as kernel, staged() as stage:
        kernel.root.load(integration)
        kernel.root.load(outside.plugin())
        assert names(await projected(stage, kernel.root)) == ["old"]
        dispose = outside.disposers[0]
        dispose()
        assert names(await projected(stage, kernel.root)) == []
        again = outside.register(GLOBAL, Provider("git", schema("new")))
        dispose()
        assert names(await projected(stage, kernel.root)) == ["new"]
        again()
        again()
        assert names(await projected(stage, kernel.root)) == []


async def test_t_02_the_same_id_twice_for_one_owner_is_refused_naming_id_and_owner() -> None:
    outside = Outside(
        [
            (GLOBAL, Provider("git", schema("a"))),
            ("reviewer", Provider("git", schema("b"))),  # legal: another owner
            (GLOBAL, Library("git", "guide")),  # legal: a skill service is another kind
        ]
    )
    async with Kernel() as kernel:
        kernel.root.load(integration)
        loaded = kernel.root.load(outside.plugin())
        await kernel.root.settle()
        assert loaded.state == "active"
        with pytest.raises(DuplicateRegistration, match="'git' for 'global'") as caught:
            outside.register(GLOBAL, Provider("git", schema("c")))
        assert (caught.value.facts["id"], caught.value.facts["owner"]) == ("git", "global")


async def test_t_02_two_plugins_with_one_id_reject_the_candidate_and_are_both_named() -> None:
    async with Kernel() as kernel, staged() as stage:
        kernel.root.load(integration)
        for name in ("first", "second"):
            kernel.root.load(Outside([(GLOBAL, Provider("git", schema(name)))]).plugin(), name=name)
        with pytest.raises(ProjectionRejected, match="plugin:first and plugin:second"):
            await projected(stage, kernel.root)


async def test_t_05_registering_and_withdrawing_after_publish_are_refused_and_say_what_to_do() -> None:
    outside = Outside([(GLOBAL, Provider("git", schema("a")))])
    async with Kernel() as kernel:
        generation = kernel.root.child("generation 1")
        generation.load(integration)
        generation.load(outside.plugin())
        await generation.settle()
        generation.seal()
        for step in (lambda: outside.register(GLOBAL, Provider("late")), outside.disposers[0]):
            with pytest.raises(RegistrationSealed, match="so that a new generation is made"):
                step()
        assert len(generation.contributions(Registered)) == 1


async def test_t_06_a_plugin_registers_only_through_what_it_was_given() -> None:
    seen: list[Exception] = []

    @plugin()
    async def nosy(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        try:
            ctx[SeamIntegration]
        except UndeclaredService as refused:
            seen.append(refused)
        yield

    async with Kernel() as kernel:
        kernel.root.load(integration)
        kernel.root.load(nosy)
        await kernel.root.settle()
    assert [type(error) for error in seen] == [UndeclaredService]


class NotAService:
    """Looks a bit like one."""

    id = "git"
    description = "no subclass"


class Nameless(Provider):
    """Has no id."""

    def __init__(self) -> None:
        super().__init__("")


@pytest.mark.parametrize(
    ("service", "owner", "words"),
    [
        (NotAService(), GLOBAL, "NotAService is not a ToolService"),
        (Nameless(), GLOBAL, "Nameless has no id"),
        (Provider("git"), " ", "registered for nobody"),
    ],
)
async def test_t_06_a_service_of_the_wrong_shape_is_an_error(service: object, owner: str, words: str) -> None:
    outside = Outside([])
    async with Kernel() as kernel:
        kernel.root.load(integration)
        kernel.root.load(outside.plugin())
        await kernel.root.settle()
        with pytest.raises(InvalidTool, match=words):
            outside.register(owner, service)


class Scoped(Provider):
    """Keeps a task group open between start and stop, as a client of a protocol does."""

    def __init__(self) -> None:
        super().__init__("scoped", schema("fetch"))
        self.tasks = anyio.create_task_group()

    async def start(self) -> None:
        await super().start()
        await self.tasks.__aenter__()
        self.tasks.start_soon(anyio.sleep_forever)

    async def stop(self) -> None:
        await super().stop()
        self.tasks.cancel_scope.cancel()
        await self.tasks.__aexit__(None, None, None)


async def test_a_service_is_started_once_in_prepare_and_stopped_with_the_last_generation() -> None:
    scoped = Scoped()
    async with Kernel() as kernel, staged() as stage:
        first = kernel.root.child("generation 1")
        shared = first.load(integration)
        outside = first.load(Outside([(GLOBAL, scoped)]).plugin())
        await first.settle()
        assert scoped.started == 0
        assert names(await projected(stage, first)) == ["fetch"]
        first.seal()
        second = kernel.root.child("generation 2")
        second.adopt(shared)
        second.adopt(outside)
        # a new plugin registers in the second generation although the integration is carried over from a sealed one
        fresh = Outside([(GLOBAL, Provider("fresh", schema("new")))])
        second.load(fresh.plugin("fresh"))
        assert names(await projected(stage, second)) == ["fetch", "new"]
        second.seal()
        assert (scoped.started, scoped.stopped) == (1, 0)
        assert not await first.aclose()
        assert scoped.stopped == 0
        assert not await second.aclose()
        assert (scoped.started, scoped.stopped) == (1, 1)
        assert not kernel.faults


async def test_a_service_that_was_never_needed_is_neither_started_nor_stopped() -> None:
    provider = Provider("idle", schema("a"))
    async with Kernel() as kernel:
        kernel.root.load(integration)
        kernel.root.load(Outside([(GLOBAL, provider)]).plugin())
        await kernel.root.settle()
    assert (provider.started, provider.stopped) == (0, 0)


async def test_a_service_whose_start_fails_rejects_the_candidate_and_is_not_stopped() -> None:
    class Away(Provider):
        async def start(self) -> None:
            raise ConnectionError("no route")

    away = Away("away", schema("a"))
    async with Kernel() as kernel, staged() as stage:
        kernel.root.load(integration)
        kernel.root.load(Outside([(GLOBAL, away)]).plugin())
        for _ in range(2):
            with pytest.raises(ProjectionRejected, match="ConnectionError: no route"):
                await projected(stage, kernel.root)
        assert not kernel.faults
    assert away.stopped == 0


async def test_a_stop_that_raises_is_a_fault_of_its_plugin() -> None:
    class Broken(Provider):
        async def stop(self) -> None:
            raise RuntimeError("cannot stop")

    async with Kernel(on_fault=lambda fault: None) as kernel, staged() as stage:
        kernel.root.load(integration)
        loaded = kernel.root.load(Outside([(GLOBAL, Broken("broken", schema("a")))]).plugin())
        await projected(stage, kernel.root)
        faults = await loaded.stop()
        assert ["cannot stop" in str(fault.error) for fault in faults] == [True]


@tool(effects=effects("reads"))
async def look(path: str) -> str:
    """Looks."""
    return path


async def test_the_whole_chain_with_a_real_kernels_events() -> None:
    log: list[str] = []

    @plugin()
    async def policy(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        async def before(info: CallInfo) -> Decision | None:
            log.append("before")
            denied = info.resolved.arguments == {"path": "/etc/shadow"}
            return Decision(verdict="deny", reason="not that file") if denied else None

        async def around(info: CallInfo, proceed: Callable[[CallInfo], object]) -> Outcome:
            log.append("around")
            return await proceed(info)  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]

        async def after(info: CallInfo, proceed: Callable[[CallInfo], object]) -> Outcome:
            log.append("after")
            return await proceed(info)  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]

        def told(call: SettledCall) -> None:
            log.append(f"settled {call.outcome.kind}")

        ctx.on(before_call, before)
        ctx.on(around_call, around)  # pyright: ignore[reportArgumentType]
        ctx.on(after_call, after)  # pyright: ignore[reportArgumentType]
        ctx.on(settled, told)
        yield

    async with Kernel() as kernel:
        kernel.root.load(memory)
        generation = kernel.root.child("generation 1")
        generation.load(runtime)
        generation.load(policy)
        await generation.settle()
        generation.seal()
        tools = generation.get(Tools)
        assert tools is not None
        sources = (ToolSource(tool=look, source="plugin:p", owner=GLOBAL),)
        catalogue = await tools.project(ProjectionRequest(agents=(DEFAULT,), tools=sources))
        turn = await tools.open(
            TurnOpening(
                turn="t1",
                agent=DEFAULT,
                session="s1",
                access=ANN,
                catalogue=catalogue,
                lease=FakeLease(),
                journal=MemoryJournal(entries=100),
                emitter=generation,
                grants=GrantBook(),
                permissions=None,
                approval=None,
                questions=None,
            )
        )
        assert (await turn.call("look", {"path": "a"})).value == "a"
        assert await turn.call("look", {"path": "/etc/shadow"}) == Refused(
            policy="hook policy", reason="not that file"
        )
        await turn.close()
        assert log == ["before", "around", "after", "settled completed", "before", "settled refused"]
        assert not kernel.faults


async def test_t_44_abandoned_code_is_reported_by_the_stop_of_its_plugin() -> None:
    let_go, running = anyio.Event(), anyio.Event()

    @tool(effects=effects(), deadline=0.05)
    async def stubborn() -> None:
        """Never ends."""
        running.set()
        with anyio.CancelScope(shield=True):
            await let_go.wait()

    async with Kernel(grace=0.1, abandon_after=0.1, on_fault=lambda fault: None) as kernel:
        loaded = kernel.root.load(runtime, {"grace": 0.05})
        await kernel.root.settle()
        tools = kernel.root.get(Tools)
        assert tools is not None
        sources = (ToolSource(tool=stubborn, source="plugin:p", owner=GLOBAL),)
        catalogue = await tools.project(ProjectionRequest(agents=(DEFAULT,), tools=sources))
        lease = FakeLease()
        turn = await tools.open(
            TurnOpening(
                turn="t1",
                agent=DEFAULT,
                session="s1",
                access=ANN,
                catalogue=catalogue,
                lease=lease,
                journal=MemoryJournal(entries=100),
                emitter=kernel.root,
                grants=GrantBook(),
                permissions=None,
                approval=None,
                questions=None,
            )
        )
        assert (await turn.call("stubborn", {})).kind == "cancelled"
        await turn.close()
        assert lease.released == 1
        faults = await loaded.stop()
        assert [getattr(fault.error, "code", "") for fault in faults] == ["TEARDOWN_ABANDONED"]
        let_go.set()
