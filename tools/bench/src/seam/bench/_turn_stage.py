"""A turn on a real kernel, with or without everything that can be switched on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio.lowlevel
from pydantic import JsonValue

from seam.kernel import Context, Kernel, NoConfig, Plugin, plugin
from seam.tools_def import (
    GLOBAL,
    Access,
    Agent,
    CallInfo,
    Decision,
    GrantBook,
    Lease,
    Permissions,
    ProjectionRequest,
    ResolvedCall,
    SettledCall,
    Tools,
    ToolSource,
    Turn,
    TurnOpening,
    before_call,
    effects,
    settled,
    tool,
)
from seam.tools_runtime import MemoryJournal, runtime

AGENT = Agent(name="default", workspace="/ws")


@tool(effects=effects("reads"))
async def noop(text: str = "") -> None:
    """Does nothing."""
    await anyio.lowlevel.checkpoint()


class OpenLease(Lease):
    """A lease that holds."""

    @property
    def generation(self) -> int:
        return 1

    @property
    def live(self) -> bool:
        return True

    def check(self) -> None:
        return

    async def release(self) -> None:
        return


class AllowAll(Permissions):
    """One rule that matches everything."""

    def holds(self, permission: str, agent: Agent, access: Access) -> bool:
        return True

    async def decide(self, resolved: ResolvedCall, agent: Agent, access: Access) -> Decision | None:
        return Decision(verdict="allow", rule="*", reason="everything is allowed")

    def covers(self, rule: str, resolved: ResolvedCall, agent: Agent, access: Access) -> bool:
        return True

    async def explain(self, resolved: ResolvedCall, agent: Agent, access: Access) -> JsonValue:
        return None


def _listeners() -> Plugin[NoConfig]:
    @plugin()
    async def listeners(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        def abstain(info: CallInfo) -> Decision | None:
            return None

        def told(call: SettledCall) -> None:
            return None

        ctx.on(before_call, abstain)
        ctx.on(settled, told)
        yield

    return listeners


@asynccontextmanager
async def opened_turn(*, features: bool) -> AsyncGenerator[Turn]:
    """A turn with the tool `noop`; with features there are listeners and permissions."""
    async with Kernel() as kernel:
        generation = kernel.root.child("generation 1")
        generation.load(runtime)
        if features:
            generation.load(_listeners())
        await generation.settle()
        generation.seal()
        tools = generation.get(Tools)
        assert tools is not None
        sources = (ToolSource(tool=noop, source="plugin:bench", owner=GLOBAL),)
        turn = await tools.open(
            TurnOpening(
                turn="t1",
                agent=AGENT,
                session="s1",
                access=Access(principal="ann", platform="cli"),
                catalogue=await tools.project(ProjectionRequest(agents=(AGENT,), tools=sources)),
                lease=OpenLease(),
                journal=MemoryJournal(entries=1_000_000),
                emitter=generation,
                grants=GrantBook(),
                permissions=AllowAll() if features else None,
                approval=None,
                questions=None,
            )
        )
        yield turn
        await turn.close()
