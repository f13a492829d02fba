"""A turn as its opener holds it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, cast, get_args

import anyio
import anyio.lowlevel
from pydantic import JsonValue

from seam.tools_def import (
    Agent,
    CallItem,
    Cancelled,
    Descriptor,
    DuplicateCall,
    OpenTurn,
    Outcome,
    ProgressSink,
    SkillDocument,
    SkillEntry,
    TurnClosed,
    TurnFailed,
)
from seam.tools_runtime._batch import run_batch
from seam.tools_runtime._call import Call
from seam.tools_runtime._chain import run_chain
from seam.tools_runtime._instructions import instructions
from seam.tools_runtime._session import Session
from seam.tools_runtime._settlement import settle_broken, settle_deserted
from seam.tools_runtime._worker import Worker

How = Literal["ended", "failed", "cancelled", "drained"]


class RuntimeTurn(OpenTurn):
    """One lease, one agent, one session; calls run side by side as their callers ask for them."""

    __slots__ = ("_active", "_idle", "_numbers", "_over", "_session", "_used")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._active: set[Call] = set()
        self._used: set[str] = set()
        self._numbers = 0
        self._idle: anyio.Event | None = None
        self._over: anyio.Event | None = None

    @property
    def id(self) -> str:
        return self._session.opening.turn

    @property
    def generation(self) -> int:
        return self._session.opening.lease.generation

    @property
    def agent(self) -> Agent:
        return self._session.opening.agent

    @property
    def tools(self) -> tuple[Descriptor, ...]:
        return self._session.view.tools

    @property
    def skills(self) -> tuple[SkillEntry, ...]:
        return self._session.view.skills

    async def call(
        self,
        tool: str,
        arguments: JsonValue,
        *,
        call: str | None = None,
        progress: ProgressSink | None = None,
    ) -> Outcome:
        self._session.check_open()
        (name,) = self._names([call])
        return await self._call(Call(self._session, name, tool, arguments, progress))

    async def call_many(
        self, calls: Sequence[CallItem], *, progress: ProgressSink | None = None
    ) -> tuple[Outcome, ...]:
        self._session.check_open()
        names = self._names([item.call for item in calls])
        made = [
            Call(self._session, name, item.tool, item.arguments, progress)
            for name, item in zip(names, calls, strict=True)
        ]
        self._active.update(
            made
        )  # all of them belong to the turn from here on: its end settles those that wait too
        try:
            return await run_batch(
                [self._parallel(item.tool) for item in calls],
                lambda place: self._call(made[place]),
                self._session.config.parallel,
            )
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                for waiting in made:
                    if not waiting.begun:
                        await self._call(waiting, cancelled="the batch was cancelled")
            raise
        finally:
            self._discard(*made)

    async def describe_skill(self, skill: str) -> SkillDocument:
        return await self._session.describe_skill(skill)

    def instructions(self, *, limit: int | None = None) -> str:
        self._session.check_open()
        bound = self._session.config.instructions_characters if limit is None else limit
        return instructions(self._session.table, self._session.view, bound)

    async def fail(self, reason: str) -> None:
        await self.close("failed", reason)

    async def close(self, how: str = "ended", reason: str = "") -> None:
        if how not in get_args(How):
            raise ValueError(f"a turn is closed as one of {', '.join(get_args(How))}, not {how!r}")
        with anyio.CancelScope(shield=True):
            if self._over is not None:
                if (how, reason) != self._session.ended:
                    self._session.note_late("", "terminal.dropped", f"closed again as {how}: {reason}")
                await self._over.wait()
                return
            self._over = anyio.Event()
            self._session.ended = (how, reason)
            try:
                await self._end(cast(How, how), reason)
            finally:
                self._over.set()

    async def _end(self, how: How, reason: str) -> None:
        opening = self._session.opening
        try:
            await self._quiet(f"the turn was closed ({how})")
            if self._session.failure is not None:
                how, reason = "failed", self._session.failure.message
                self._session.failure = None  # a last try: the journal may be there again
            await self._session.write(TurnClosed.trusted(how=how, reason=reason))
        finally:
            opening.grants.end_turn(opening.turn)
            await opening.lease.release()

    async def _quiet(self, reason: str) -> None:
        """Stop every call and wait until each is settled, or left behind."""
        if not self._active:
            return
        self._idle = anyio.Event()
        self._stop_all(reason)
        await self._idle.wait()

    def _stop_all(self, reason: str) -> None:
        for call in tuple(self._active):
            if call.worker is not None:
                call.worker.cancel(reason, self._session.config.grace)

    def _names(self, wanted: Sequence[str | None]) -> list[str]:
        given = [name for name in wanted if name is not None]
        for place, name in enumerate(given):
            if name in self._used or name in given[:place]:
                raise DuplicateCall(
                    f"turn {self.id!r} has a call {name!r} already; give each call an id of its own",
                    turn=self.id,
                    call=name,
                )
        self._used.update(given)
        return [self._fresh() if name is None else name for name in wanted]

    def _fresh(self) -> str:
        while True:
            self._numbers += 1
            name = f"call-{self._numbers}"
            if name not in self._used:
                self._used.add(name)
                return name

    def _parallel(self, tool: str) -> bool:
        bound = self._session.table.by_name.get(tool)
        return bound is not None and bound.descriptor.concurrency == "parallel"

    async def _call(self, call: Call, *, cancelled: str | None = None) -> Outcome:
        call.begun = True
        self._active.add(call)
        try:
            return await self._settled(call, cancelled)
        except TurnFailed:
            self._stop_all("the turn failed: its record cannot be kept")
            raise
        finally:
            call.over = True
            self._discard(call)

    def _discard(self, *calls: Call) -> None:
        self._active.difference_update(calls)
        if self._idle is not None and not self._active:
            self._idle.set()

    async def _settled(self, call: Call, cancelled: str | None) -> Outcome:
        session = self._session
        config = session.config
        early: BaseException | None = None
        try:
            await anyio.lowlevel.checkpoint_if_cancelled()
        except anyio.get_cancelled_exc_class() as interruption:
            early, cancelled = interruption, "the caller was cancelled"
        worker = call.worker = session.workers.start(
            partial(run_chain, call), seconds=config.hook_timeout, grace=config.grace
        )
        if cancelled is None and session.ended is not None:
            cancelled = "the turn was closed"
        if cancelled is not None:
            worker.cancel(cancelled, config.grace)
        interrupted = await worker.wait(config.grace) or early
        if worker.deserted:
            await settle_deserted(call)
        elif worker.failure is not None:
            await self._broken(call, worker)
        if interrupted is not None:
            raise interrupted
        if call.outcome is None:
            # the runtime was stopped under the call: nothing is left that could write
            return Cancelled(reason="the runtime was stopped")
        return call.outcome

    async def _broken(self, call: Call, worker: Worker) -> None:
        failure = worker.failure
        assert failure is not None
        if isinstance(failure, (TurnFailed, KeyboardInterrupt)) or call.over:
            raise failure
        with anyio.CancelScope(shield=True):
            await settle_broken(call, failure)
