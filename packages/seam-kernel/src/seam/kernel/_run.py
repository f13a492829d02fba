"""One life of a plugin: set up, wait, undo, tear down, all in one task."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import anyio

from seam.kernel._context import Context
from seam.kernel._dispatch import Emitter, Several
from seam.kernel._effects import Effect, undo
from seam.kernel._errors import (
    ContextInactive,
    InvalidDeclaration,
    KernelError,
    PluginFailed,
    ServiceUnavailable,
    TeardownAbandoned,
    UndeclaredService,
)
from seam.kernel._fault import Phase, contained
from seam.kernel._node import Node, Provision
from seam.kernel._registrations import Registrations
from seam.kernel._service import Service

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from seam.kernel._engine import Engine


AFTER_YIELD = "the code after yield"


class Run:
    """From the start of a plugin to its end. A restart is another run, with a context of its own.

    Two cancel scopes lie around the whole life, because a plugin may keep scopes of its own open across `yield`:
    `_set_up_scope` ends a set-up that is not wanted any more, `_guard` bounds the tear-down. The guard shields from
    the other one as soon as the set-up is over.
    """

    def __init__(self, engine: Engine, node: Node, bindings: dict[str, Provision]) -> None:
        self.engine = engine
        self.node = node
        self.bindings = bindings
        self.closing = False
        self.over = False
        self.crashed = False
        self.failure: BaseException | None = None
        declared = {**node.requires, **node.optional}
        self.services: dict[type[Service], Service] = {
            declared[key]: found.implementation for key, found in bindings.items()
        }
        self.views: dict[type[Service], Service | None] = dict.fromkeys(node.optional.values())
        self.views.update(self.services)
        self.registrations = Registrations(self)
        self._released = anyio.Event()
        self._set_up_scope = anyio.CancelScope(shield=True)
        self._guard = anyio.CancelScope()
        self._bound = self._guard
        self._deadline = float("inf")
        self._interrupt: KeyboardInterrupt | None = None

    # -- asked by the context

    def explain(self, service: type[Service]) -> KernelError:
        """Why a plugin does not get a service."""
        name, key = self.node.name, getattr(service, "service_key", repr(service))
        if self.over:
            return ContextInactive(
                f"{name!r} was stopped; its context gives no services any more ({key!r})",
                plugin=name,
                key=key,
            )
        if service in self.views:
            return ServiceUnavailable(
                f"{name!r} has {key!r} as optional and nobody provides it; use ctx.get and expect None",
                plugin=name,
                key=key,
            )
        return UndeclaredService(
            f"{name!r} did not declare {service.__qualname__} (key {key!r}); add it to requires or optional",
            plugin=name,
            key=key,
        )

    def emitter(self) -> Emitter:
        """Where events of this plugin go: every scope that lists it."""
        if self.over:
            raise ContextInactive(f"{self.node.name!r} was stopped; it cannot emit", plugin=self.node.name)
        places = self.node.places
        return self.node.home if len(places) <= 1 else Several(tuple(places))

    # -- asked by the engine

    def release(self) -> None:
        """Let a closing run end: nothing uses its services any more."""
        self._released.set()
        if not self._guard.shield:
            self._set_up_scope.cancel()
            self.engine.watch(self, anyio.current_time() + self.engine.grace)

    # -- the life itself

    async def live(self) -> None:
        """The body of the plugin's task."""
        try:
            with self._set_up_scope, self._guard:
                if not self.closing:
                    await self._live()
        finally:
            self.engine.finished(self)
        if self._interrupt is not None:
            raise self._interrupt

    async def _live(self) -> None:
        generator = await self._set_up()
        self._guard.shield = True
        crash: BaseException | None = None
        in_place = False
        if generator is not None and not self.closing:
            self.engine.activated(self)
            crash, in_place = await self._active()
        if generator is not None and in_place:
            self._start_clock()
            await self._tear_down(generator, crash)
            self.engine.crashed_in_place(self)
            with anyio.CancelScope(shield=True):
                await self._released.wait()
            generator = None
        self.closing = True
        self._start_clock()
        await self._undo_effects()
        if generator is not None:
            await self._tear_down(generator, crash)

    async def _set_up(self) -> AsyncGenerator[None] | None:
        """Run the plugin to its yield; `None` when it does not get there."""
        plugin = self.node.plugin
        try:
            generator = cast("AsyncGenerator[None]", plugin.set_up(Context(self), self.node.config))
            await anext(generator)
        except StopAsyncIteration:
            self.fail(
                "set-up",
                InvalidDeclaration(
                    f"plugin {plugin.name!r} ended without a yield; yield once when the set-up is done",
                    plugin=plugin.name,
                ),
            )
        except KeyboardInterrupt as interrupt:
            self._interrupt = interrupt  # not ours to keep, but what was registered is undone first
            self.fail("set-up", interrupt)
        except anyio.get_cancelled_exc_class() as cancelled:
            if not self.closing:  # not ours: the plugin cancelled its own task
                self.fail("set-up", cancelled)
        except BaseException as error:
            if not contained(error):
                raise
            self.fail("set-up", error)
        else:
            return generator
        return None

    async def _active(self) -> tuple[BaseException | None, bool]:
        """Wait for the release. A cancellation here comes from a scope that the plugin opened in its set-up."""
        try:
            await self._released.wait()
        except anyio.get_cancelled_exc_class() as crash:
            self.crashed = True
            if not self.engine.unwind_crashed(self):
                return crash, True
            with anyio.CancelScope(shield=True):
                await self._released.wait()
            return crash, False
        return None, False

    def _start_clock(self) -> None:
        self._deadline = anyio.current_time() + self.engine.grace
        self.engine.watch(self, self._deadline)

    async def _undo_effects(self) -> None:
        with anyio.CancelScope(shield=True, deadline=self._deadline) as self._bound:
            while (effect := self.registrations.effects.pop()) is not None:
                await self._undo_one(effect)
        self._bound = self._guard

    async def _undo_one(self, effect: Effect) -> None:
        try:
            await undo(effect)
        except anyio.get_cancelled_exc_class():
            self._abandoned(effect.name, ended=True)
        except BaseException as error:
            if not contained(error):
                raise
            self.node.report("effect", effect.name, error)

    async def _tear_down(self, generator: AsyncGenerator[None], crash: BaseException | None) -> None:
        self._guard.deadline = self._deadline
        try:
            await (anext(generator) if crash is None else generator.athrow(crash))
        except StopAsyncIteration:
            if crash is not None:
                self.fail(
                    "running",
                    InvalidDeclaration(
                        f"plugin {self.node.plugin.name!r} cancelled the scope around its own yield; "
                        "it ends itself with `await ctx.instance.stop()`",
                        plugin=self.node.plugin.name,
                    ),
                )
        except anyio.get_cancelled_exc_class() as cancelled:
            if self._guard.cancel_called:
                self._failed_after_yield(crash, self.abandonment(AFTER_YIELD, ended=True), AFTER_YIELD)
            else:
                self.fail("running", cancelled)
        except BaseException as error:
            if not contained(error):
                raise
            self._failed_after_yield(crash, error)
        else:
            name = self.node.plugin.name
            self._failed_after_yield(crash, InvalidDeclaration(f"plugin {name!r} yields more than once"))
            await self._undo_one(Effect("the code after a second yield", generator.aclose))

    def _failed_after_yield(self, crash: BaseException | None, error: BaseException, what: str = "") -> None:
        # A tear-down that fails does not keep a plugin from being started again; a crash does.
        if crash is None:
            self.node.report("tear-down", what, error)
        else:
            self.fail("running", error)

    async def wait_for_child(self, child: Node) -> None:
        """Wait until a child is gone; its clean-up has a grace of its own, so this one's clock stands still."""
        paused_at = anyio.current_time()
        self.engine.overdue.forget(self)
        self._bound.deadline = float("inf")
        with anyio.CancelScope(shield=True):
            await child.ended.wait()
        self._deadline += anyio.current_time() - paused_at
        self._bound.deadline = self._deadline
        self.engine.watch(self, self._deadline)

    async def wait_for_task(self, name: str, done: anyio.Event) -> None:
        """Wait until a cancelled task has ended, at most as long as it may ignore its cancellation."""
        limit = self.engine.grace
        if self.closing:
            limit = max(self._deadline - anyio.current_time(), 0)
            self.engine.overdue.forget(self)  # this wait is bounded by itself
        with anyio.move_on_after(limit + self.engine.abandon_after, shield=self.closing):
            await done.wait()
        if not done.is_set():
            self._abandoned(f"task {name}", ended=False)
        if self.closing:
            self.engine.watch(self, max(self._deadline, anyio.current_time()))

    def fail(self, phase: Phase, error: BaseException) -> None:
        """Remember why this run failed."""
        self.failure = error
        self.node.report(phase, "", error)

    def _abandoned(self, what: str, *, ended: bool) -> None:
        self.node.report("tear-down", what, self.abandonment(what, ended=ended))

    def abandonment(self, what: str, *, ended: bool) -> TeardownAbandoned:
        """The error for clean-up that took too long."""
        seconds = self.engine.grace
        then = "it ended when it was cancelled" if ended else "it ignores its cancellation and still runs"
        return TeardownAbandoned(
            f"{self.node.name!r}: {what} was not done within {seconds:g} s; {then}",
            plugin=self.node.name,
            what=what,
            seconds=seconds,
            ended=ended,
        )

    def as_failure(self) -> PluginFailed | None:
        """What the instance shows as its error."""
        if self.failure is None:
            return None
        kind, text = type(self.failure).__name__, str(self.failure)
        failed = PluginFailed(f"plugin {self.node.name!r} failed: {kind}: {text}", plugin=self.node.name)
        failed.__cause__ = self.failure
        return failed
