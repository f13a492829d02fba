"""What a host builds generations on: adoption, holding, sealing, closing."""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel
import pytest

from seam.kernel import (
    Context,
    ContextInactive,
    ContextSealed,
    Disposer,
    DuplicateInstance,
    DuplicateProvider,
    Fault,
    InvalidDeclaration,
    Kernel,
    NoConfig,
    Observe,
    Plugin,
    Release,
    ScopeUnsettled,
    Service,
    plugin,
)

pytestmark = pytest.mark.anyio

TOLD: Observe[str] = Observe("tests.told")


class Machine(Service, key="machine"):
    """At the bottom."""


class Shell(Service, key="shell"):
    """Built on the machine."""


def quiet(fault: Fault) -> None:
    """A sink for tests that expect faults."""


class Rig:
    """The plugins of these tests and what they did."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.contexts: dict[str, Context] = {}
        self.withdraw: list[Disposer] = []
        self.release: list[Release] = []
        rig = self

        @plugin(provides=[Machine])
        async def machine(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
            rig.enter(ctx)
            rig.withdraw.append(ctx.provide(Machine, Machine()))
            yield
            rig.log.append("-machine")

        @plugin(requires=[Machine], provides=[Shell])
        async def shell(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
            rig.enter(ctx)
            ctx.provide(Shell, Shell())
            rig.release.append(ctx.contribute("shell"))
            ctx.on(TOLD, lambda text: rig.log.append(f"shell heard {text}"))
            yield
            rig.log.append("-shell")

        self.machine = machine
        self.shell = shell

    def enter(self, ctx: Context) -> None:
        self.contexts[ctx.name] = ctx
        self.log.append(f"+{ctx.name}")

    def listener(self, name: str) -> Plugin[NoConfig]:
        @plugin(name=name)
        async def listening(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
            self.enter(ctx)
            ctx.on(TOLD, lambda text: self.log.append(f"{name} heard {text}"))
            yield
            self.log.append(f"-{name}")

        return listening


async def test_an_adopted_instance_is_the_same_object_and_is_disposed_with_its_last_scope() -> None:
    rig = Rig()
    async with Kernel() as kernel:
        first, second = kernel.root.child("first"), kernel.root.child("second")
        machine, shell = first.load(rig.machine), first.load(rig.shell)
        await first.settle()
        second.adopt(shell)
        second.adopt(machine)
        second.adopt(machine)
        await second.settle()
        assert second.instances == (shell, machine)
        assert second.get(Shell) is first.get(Shell)
        assert second.contributions(str) == ((shell, "shell"),)
        assert second.problems() == ()
        assert shell.holders == ("first", "second")
        assert await first.aclose() == ()
        assert rig.log == ["+machine", "+shell"]
        assert (shell.state, shell.holders) == ("active", ("second",))
        assert second.get(Machine) is not None
        await second.aclose()
        assert rig.log == ["+machine", "+shell", "-shell", "-machine"]
        assert (shell.state, machine.state) == ("stopped", "stopped")


async def test_adoption_refuses_what_does_not_fit() -> None:
    rig = Rig()

    @plugin()
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.load(rig.listener("child"))
        yield

    async with Kernel() as kernel, Kernel() as other:
        first, second = kernel.root.child("first"), kernel.root.child("second")
        machine = first.load(rig.machine)
        with pytest.raises(ContextInactive, match="only an active instance"):
            second.adopt(machine)
        family = first.load(parent)
        await first.settle()
        with pytest.raises(InvalidDeclaration, match="adopt that one"):
            second.adopt(first.instances[2])
        second.adopt(family)
        assert [each.name for each in second.instances] == ["parent", "child"]
        own = second.load(rig.machine, name="own")
        with pytest.raises(DuplicateProvider):
            second.adopt(machine)
        await own.stop()
        second.load(rig.listener("x"), name="machine")
        with pytest.raises(DuplicateInstance):
            second.adopt(machine)
        with pytest.raises(ContextInactive, match="not an instance of this kernel"):
            other.root.adopt(machine)
        third = kernel.root.child("third")
        await third.aclose()
        with pytest.raises(ContextInactive):
            third.adopt(machine)
        await machine.stop()
        with pytest.raises(ContextInactive):
            second.adopt(machine)


async def test_an_adopted_instance_with_other_neighbours_is_a_problem() -> None:
    rig = Rig()
    async with Kernel() as kernel:
        first, second = kernel.root.child("first"), kernel.root.child("second")
        first.load(rig.machine)
        shell = first.load(rig.shell)
        await first.settle()
        second.adopt(shell)
        second.load(rig.machine, name="other machine")
        await second.settle()
        (problem,) = second.problems()
        assert (problem.kind, problem.instance, problem.keys) == ("divergent", shell, ("machine",))
        assert "'machine' from machine" in problem.text
        assert "from other machine" in problem.text
        await first.aclose()
        assert first.closed


async def test_an_adopted_instance_that_its_last_scope_would_bind_otherwise_is_started_anew_there() -> None:
    rig = Rig()
    async with Kernel() as kernel:
        first, second = kernel.root.child("first"), kernel.root.child("second")
        first.load(rig.machine)
        shell = first.load(rig.shell)
        await first.settle()
        second.adopt(shell)
        other = second.load(rig.machine, name="other machine")
        await second.settle()
        await first.aclose()
        await second.settle()
        assert dict(shell.bindings) == {"machine": other}
        assert rig.log == ["+machine", "+shell", "+other machine", "-shell", "-machine", "+shell"]


async def test_what_a_sealed_scope_uses_outlives_the_scope_that_listed_it() -> None:
    rig = Rig()
    async with Kernel() as kernel:
        first, second = kernel.root.child("first"), kernel.root.child("second")
        machine, shell = first.load(rig.machine), first.load(rig.shell)
        await first.settle()
        second.adopt(shell)  # without its neighbour: the host should not, and loses nothing
        second.seal()
        await first.aclose()
        assert (machine.state, shell.state, machine.holders) == ("active", "active", ())
        await second.aclose()
        await machine.wait_stopped()
        assert rig.log == ["+machine", "+shell", "-shell", "-machine"]


async def test_a_hold_keeps_an_instance_and_what_it_requires_beyond_its_scope() -> None:
    rig = Rig()
    async with Kernel() as kernel:
        scope = kernel.root.child("generation")
        machine, shell = scope.load(rig.machine), scope.load(rig.shell)
        await scope.settle()
        release = rig.contexts["shell"].hold("job 1")
        again = shell.hold("job 2")
        await scope.aclose()
        assert (machine.state, shell.state) == ("active", "active")
        assert shell.holders == ("job 1", "job 2")
        assert rig.contexts["shell"][Machine] is not None
        release()
        release()
        await anyio.lowlevel.checkpoint()
        assert shell.state == "active"
        again()
        await machine.wait_stopped()
        assert rig.log[2:] == ["-shell", "-machine"]
        with pytest.raises(ContextInactive):
            shell.hold("job 3")


async def test_the_end_of_the_kernel_does_not_wait_for_holders() -> None:
    rig = Rig()
    async with Kernel() as kernel:
        scope = kernel.root.child("generation")
        scope.load(rig.machine)
        shell = scope.load(rig.shell)
        await scope.settle()
        shell.hold("job")
        await scope.aclose()
    assert rig.log[2:] == ["-shell", "-machine"]
    assert shell.state == "stopped"


async def test_a_held_child_keeps_its_parent() -> None:
    rig = Rig()

    @plugin()
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.load(rig.listener("child"))
        yield
        rig.log.append("-parent")

    async with Kernel() as kernel:
        scope = kernel.root.child("generation")
        instance = scope.load(parent)
        await scope.settle()
        release = rig.contexts["child"].hold("terminal")
        await scope.aclose()
        assert instance.state == "active"
        release()
        await instance.wait_stopped()
        assert rig.log == ["+child", "-child", "-parent"]


async def test_a_parent_whose_child_uses_it_is_still_disposed() -> None:
    rig = Rig()

    @plugin(provides=[Machine])
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Machine, Machine())
        ctx.load(rig.shell)
        yield

    async with Kernel() as kernel:
        scope = kernel.root.child("generation")
        instance = scope.load(parent)
        await scope.settle()
        release = instance.hold("job")
        await scope.aclose()
        assert instance.state == "active"
        release()
        await instance.wait_stopped()
        assert rig.log == ["+shell", "-shell"]


async def test_a_sealed_scope_takes_and_gives_nothing() -> None:
    rig = Rig()
    async with Kernel() as kernel:
        scope = kernel.root.child("generation")
        realm = scope.child("realm")
        machine, shell = scope.load(rig.machine), realm.load(rig.shell)
        with pytest.raises(ScopeUnsettled, match="machine"):
            scope.seal()
        await scope.settle()
        scope.seal()
        assert scope.sealed
        assert realm.sealed
        ctx = rig.contexts["machine"]
        for action in (
            lambda: scope.load(rig.listener("late")),
            lambda: realm.load(rig.listener("late")),
            lambda: ctx.contribute("late"),
            lambda: ctx.load(rig.listener("late")),
            rig.release[0],
            lambda: scope.adopt(shell),
        ):
            with pytest.raises(ContextSealed, match="make a new generation"):
                action()
        with pytest.raises(ContextSealed):
            await machine.stop()
        with pytest.raises(ContextSealed):
            await rig.withdraw[0]()
        assert scope.get(Machine) is not None
        assert [item for _, item in realm.contributions(str)] == ["shell"]
        assert await scope.aclose() == ()
        assert rig.log == ["+machine", "+shell", "-shell", "-machine"]


async def test_what_a_sealed_scope_uses_from_above_cannot_be_withdrawn() -> None:
    rig = Rig()
    async with Kernel() as kernel:
        machine = kernel.root.load(rig.machine)
        scope = kernel.root.child("generation")
        scope.load(rig.shell)
        await scope.settle()
        scope.seal()
        with pytest.raises(ContextSealed, match="generation"):
            await machine.stop()
        with pytest.raises(ContextSealed, match="generation"):
            await rig.withdraw[0]()
        await scope.aclose()
        await machine.stop()
        assert rig.log == ["+machine", "+shell", "-shell", "-machine"]


async def test_an_optional_service_that_comes_later_does_not_touch_a_sealed_scope() -> None:
    rig = Rig()
    starts: list[bool] = []

    @plugin(optional=[Machine])
    async def user(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        starts.append(ctx.get(Machine) is not None)
        yield

    async with Kernel() as kernel:
        scope = kernel.root.child("generation")
        scope.load(user)
        await scope.settle()
        scope.seal()
        kernel.root.load(rig.machine)
        await kernel.root.settle()
        assert starts == [False]
        assert scope.instances[0].state == "active"


async def test_a_crash_in_a_sealed_scope_is_recorded_and_nothing_is_unwound() -> None:
    rig = Rig()
    break_it = anyio.Event()

    async def worker() -> None:
        await break_it.wait()
        raise ValueError("machine burnt")

    @plugin(provides=[Machine])
    async def fragile(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.effect(lambda: rig.log.append("undone"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker)
            ctx.provide(Machine, Machine())
            yield

    async with Kernel(on_fault=quiet) as kernel:
        scope = kernel.root.child("generation")
        instance = scope.load(fragile)
        shell = scope.load(rig.shell)
        await scope.settle()
        scope.seal()
        break_it.set()
        while instance.state != "failed":
            await anyio.lowlevel.checkpoint()
        assert [fault.phase for fault in instance.faults] == ["running"]
        assert "machine burnt" in "".join(traceback.format_exception(instance.faults[0].error))
        assert instance.error is not None
        assert shell.state == "active"
        assert rig.contexts["shell"][Machine] is not None
        assert rig.log == ["+shell"]
        await scope.aclose()
        assert rig.log == ["+shell", "-shell", "undone"]
        assert instance.state == "stopped"


async def test_events_of_a_shared_instance_reach_every_scope_that_lists_it_once() -> None:
    rig = Rig()
    async with Kernel() as kernel:
        kernel.root.load(rig.listener("process"))
        first, second = kernel.root.child("first"), kernel.root.child("second")
        kernel.root.load(rig.machine)
        shell = first.load(rig.shell)
        first.load(rig.listener("one"))
        await first.settle()
        second.adopt(shell)
        second.load(rig.listener("two"))
        await second.settle()
        rig.log.clear()
        await rig.contexts["shell"].observe(TOLD, "x")
        assert rig.log == ["process heard x", "shell heard x", "one heard x", "two heard x"]
        rig.log.clear()
        await second.observe(TOLD, "y")
        assert rig.log == ["process heard y", "shell heard y", "two heard y"]
        rig.log.clear()
        await first.aclose()
        await rig.contexts["shell"].observe(TOLD, "z")
        assert rig.log == ["-one", "process heard z", "shell heard z", "two heard z"]


async def test_a_held_instance_without_a_scope_still_reaches_the_process() -> None:
    rig = Rig()
    async with Kernel() as kernel:
        kernel.root.load(rig.listener("process"))
        scope = kernel.root.child("generation")
        scope.load(rig.machine)
        scope.load(rig.shell)
        await scope.settle()
        release = rig.contexts["shell"].hold("job")
        await scope.aclose()
        rig.log.clear()
        await rig.contexts["shell"].observe(TOLD, "done")
        assert rig.log == ["process heard done"]
        release()


async def test_listeners_of_a_closing_scope_hear_its_plugins_stop() -> None:
    rig = Rig()

    @plugin()
    async def last_words(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield
        await ctx.observe(TOLD, "bye")

    async with Kernel() as kernel:
        scope = kernel.root.child("generation")
        kernel.root.load(rig.listener("process"))
        scope.load(last_words)
        await scope.settle()
        await scope.aclose()
        assert "process heard bye" in rig.log


async def test_a_slow_tear_down_of_an_old_scope_does_not_hold_up_a_new_one() -> None:
    go_on, tearing = anyio.Event(), anyio.Event()
    rig = Rig()

    @plugin()
    async def slow(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield
        tearing.set()
        await go_on.wait()

    @plugin(optional=[Machine], provides=[Shell])
    async def one(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Shell, Shell())
        yield

    @plugin(optional=[Shell], provides=[Machine])
    async def two(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Machine, Machine())
        yield

    async with Kernel() as kernel:
        old, new = kernel.root.child("old"), kernel.root.child("new")
        old.load(slow)
        await old.settle()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(old.aclose)
            await tearing.wait()
            new.load(one)  # waits for an optional key of `two`, which waits for one of `one`
            new.load(two)
            await new.settle()
            assert [each.state for each in new.instances] == ["active", "active"]
            new.seal()
            go_on.set()
        assert rig.log == []


async def test_closing_is_not_interrupted_by_a_cancelled_caller() -> None:
    rig = Rig()
    async with Kernel() as kernel:
        scope = kernel.root.child("generation")
        scope.load(rig.machine)
        scope.load(rig.shell)
        await scope.settle()
        with anyio.CancelScope() as cancelled:
            cancelled.cancel()
            await scope.aclose()
        assert cancelled.cancelled_caught
        await scope.aclose()
        assert rig.log[2:] == ["-shell", "-machine"]


async def test_closing_during_start_up_cancels_it() -> None:
    started = anyio.Event()

    @plugin()
    async def slow(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        started.set()
        await anyio.sleep_forever()
        yield

    async with Kernel() as kernel:
        scope = kernel.root.child("candidate")
        instance = scope.load(slow)
        await started.wait()
        assert await scope.aclose() == ()
        assert instance.state == "stopped"
