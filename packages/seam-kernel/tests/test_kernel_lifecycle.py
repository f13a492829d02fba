"""The life of an instance: order, set-up, tear-down, failure, restart."""

from __future__ import annotations

import gc
import importlib
import inspect
import traceback
import weakref
from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel
import pytest

from seam.kernel import (
    Context,
    ContextInactive,
    Fault,
    Instance,
    InvalidDeclaration,
    Kernel,
    NoConfig,
    Observe,
    Plugin,
    PluginFailed,
    Scope,
    Service,
    TeardownAbandoned,
    plugin,
)

pytestmark = pytest.mark.anyio


class Base(Service, key="base"):
    """Provided by `base`."""


class Middle(Service, key="middle"):
    """Provided by `middle`."""


TICK: Observe[int] = Observe("tests.tick")


def quiet(fault: Fault) -> None:
    """A sink for tests that expect faults."""


def layers(log: list[str]) -> tuple[Plugin[NoConfig], Plugin[NoConfig], Plugin[NoConfig]]:
    @plugin(provides=[Base])
    async def base(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        log.append("+base")
        ctx.provide(Base, Base())
        yield
        log.append("-base")

    @plugin(requires=[Base], provides=[Middle])
    async def middle(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        log.append("+middle")
        ctx.provide(Middle, Middle())
        yield
        log.append("-middle")

    @plugin(requires=[Middle])
    async def user(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        log.append("+user")
        yield
        log.append("-user")

    return base, middle, user


async def test_order_comes_from_requirements_not_from_the_listing() -> None:
    log: list[str] = []
    base, middle, user = layers(log)
    async with Kernel() as kernel:
        for each in (user, middle, base):
            kernel.root.load(each)
        await kernel.root.settle()
        assert log == ["+base", "+middle", "+user"]
    assert log[3:] == ["-user", "-middle", "-base"]
    assert kernel.faults == ()


async def test_a_missing_requirement_is_pending_not_failed() -> None:
    log: list[str] = []
    base, middle, user = layers(log)
    async with Kernel() as kernel:
        waiting = kernel.root.load(user)
        kernel.root.load(middle)
        await kernel.root.settle()
        assert (waiting.state, waiting.missing, log) == ("pending", ("middle",), [])
        kernel.root.load(base)
        await kernel.root.settle()
        assert (waiting.state, waiting.missing) == ("active", ())


async def test_a_provider_that_goes_unwinds_dependents_first_and_they_start_again_with_another() -> None:
    log: list[str] = []
    base, middle, user = layers(log)
    async with Kernel() as kernel:
        provider = kernel.root.load(base)
        others = [kernel.root.load(middle), kernel.root.load(user)]
        await kernel.root.settle()
        log.clear()
        assert await provider.stop() == ()
        assert log == ["-user", "-middle", "-base"]
        assert (provider.state, [each.state for each in others]) == ("stopped", ["pending", "pending"])
        log.clear()
        kernel.root.load(base)
        await kernel.root.settle()
        assert log == ["+base", "+middle", "+user"]


async def test_stop_is_idempotent_and_survives_its_caller() -> None:
    tearing, go_on = anyio.Event(), anyio.Event()

    @plugin()
    async def slow(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield
        tearing.set()
        await go_on.wait()

    async with Kernel() as kernel:
        instance = kernel.root.load(slow)
        await kernel.root.settle()
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(instance.stop)
                await tearing.wait()
                scope.cancel()
        assert instance.state == "stopping"
        go_on.set()
        await instance.stop()
        await instance.stop()
        await instance.wait_stopped()
        assert instance.state == "stopped"
        assert kernel.root.instances == ()


async def test_ke_025_scopes_and_task_groups_opened_in_set_up_close_in_the_same_task() -> None:
    tasks_seen: list[int] = []

    @plugin()
    async def scoped(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        tasks_seen.append(anyio.get_current_task().id)
        with anyio.CancelScope(), anyio.move_on_after(600):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anyio.sleep_forever)
                yield
                tasks_seen.append(anyio.get_current_task().id)
                tasks.cancel_scope.cancel()

    async with Kernel() as kernel:
        instance = kernel.root.load(scoped)
        await kernel.root.settle()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(instance.stop)
        assert instance.state == "stopped"
        assert len(set(tasks_seen)) == 1
        assert len(tasks_seen) == 2
        assert tasks_seen[0] != anyio.get_current_task().id
    assert kernel.faults == ()


async def test_ep_008_a_set_up_that_raises_half_way_is_rolled_back() -> None:
    undone: list[str] = []

    @plugin(provides=[Base])
    async def broken(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Base, Base())
        ctx.contribute("tool")
        ctx.effect(lambda: undone.append("first"))
        ctx.effect(lambda: undone.append("second"))
        ctx.start_soon(anyio.sleep_forever)
        raise LookupError("half-way")
        yield

    base, _, _ = layers([])
    async with Kernel(on_fault=quiet) as kernel:
        failed = kernel.root.load(broken)
        await kernel.root.settle()
        assert failed.state == "failed"
        assert isinstance(failed.error, PluginFailed)
        assert isinstance(failed.error.__cause__, LookupError)
        assert undone == ["second", "first"]
        assert kernel.root.contributions(str) == ()
        assert kernel.root.get(Base) is None
        again = kernel.root.load(base)
        await kernel.root.settle()
        assert again.state == "active"
        assert [fault.phase for fault in kernel.faults] == ["set-up"]


@pytest.mark.parametrize(
    "error", [SystemExit(3), BaseException("odd"), BaseExceptionGroup("g", [SystemExit()])]
)
async def test_ep_008_even_system_exit_is_the_plugins_own_failure(error: BaseException) -> None:
    @plugin()
    async def leaver(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        raise error
        yield

    async with Kernel(on_fault=quiet) as kernel:
        instance = kernel.root.load(leaver)
        await kernel.root.settle()
        assert instance.state == "failed"
        assert instance.error is not None
        assert instance.error.__cause__ is error


async def test_ke_001_a_plugin_with_a_missing_module_fails_alone_and_once() -> None:
    attempts: list[int] = []
    log: list[str] = []

    @plugin()
    async def bad(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        attempts.append(1)
        importlib.import_module("missing_pkg.mod")
        yield

    async with Kernel(on_fault=quiet) as kernel:
        instance = kernel.root.load(bad, name="row-7", distribution="seam-bad")
        others = [kernel.root.load(each) for each in layers(log)]
        await kernel.root.settle()
        assert instance.state == "failed"
        assert [each.state for each in others] == ["active"] * 3
        (problem,) = kernel.root.problems()
        assert problem.kind == "failed"
        assert "row-7" in problem.text
        assert "missing_pkg" in problem.text
        assert isinstance(problem.cause, ModuleNotFoundError)
        await kernel.root.settle()
        assert attempts == [1]


def test_an_interrupt_is_not_contained_but_everything_is_undone(anyio_backend: str) -> None:
    log: list[str] = []
    base, _, _ = layers(log)

    @plugin()
    async def interrupted(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.effect(lambda: log.append("undone"))
        raise KeyboardInterrupt
        yield

    async def main() -> None:
        async with Kernel(on_fault=quiet) as kernel:
            kernel.root.load(base)
            await kernel.root.settle()
            kernel.root.load(interrupted)
            await anyio.sleep_forever()

    with pytest.raises(BaseException) as caught:
        anyio.run(main, backend=anyio_backend)
    error = caught.value
    assert isinstance(error, KeyboardInterrupt) or caught.group_contains(KeyboardInterrupt)
    assert log[:2] == ["+base", "undone"]
    if anyio_backend == "trio":  # asyncio leaves its loop at once and then cancels every task, ours included
        assert log[2:] == ["-base"]


async def test_a_plugin_without_a_yield_at_run_time_fails() -> None:
    @plugin()
    async def silent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        if ctx.name == "nobody":
            yield

    async with Kernel(on_fault=quiet) as kernel:
        instance = kernel.root.load(silent)
        await kernel.root.settle()
        assert instance.state == "failed"
        assert instance.error is not None
        assert isinstance(instance.error.__cause__, InvalidDeclaration)


async def test_a_plugin_that_yields_more_than_once_is_reported() -> None:
    @plugin()
    async def chatty(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield
        try:
            yield
        finally:
            yield

    async with Kernel(on_fault=quiet) as kernel:
        instance = kernel.root.load(chatty)
        await kernel.root.settle()
        first, second = await instance.stop()
        assert first.phase == "tear-down"
        assert "yields more than once" in str(first.error)
        assert isinstance(second.error, RuntimeError)  # it ignored the end of its generator, too


async def test_a_plugin_with_another_signature_fails_alone() -> None:
    @plugin()  # pyright: ignore[reportArgumentType]  # that is the point
    async def forgetful(ctx: Context) -> AsyncIterator[None]:
        yield

    async with Kernel(on_fault=quiet) as kernel:
        instance = kernel.root.load(forgetful)
        await kernel.root.settle()
        assert instance.state == "failed"
        assert instance.error is not None
        assert isinstance(instance.error.__cause__, TypeError)


async def test_a_broken_plugin_whose_end_hangs_is_failed_all_the_same() -> None:
    scopes: list[anyio.CancelScope] = []

    @plugin()
    async def hanging(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            yield
        await anyio.sleep_forever()

    async with Kernel(grace=0.05, on_fault=quiet) as kernel:
        instance = kernel.root.load(hanging)
        await kernel.root.settle()
        scopes[0].cancel()
        while instance.state != "failed":
            await anyio.sleep(0.01)
        assert instance.error is not None
        assert isinstance(instance.error.__cause__, TeardownAbandoned)


async def test_a_stop_during_set_up_cancels_it_in_its_own_task_and_rolls_back() -> None:
    started = anyio.Event()
    log: list[str] = []

    @plugin()
    async def slow(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.effect(lambda: log.append("undone"))
        try:
            started.set()
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            log.append("cancelled")
            raise
        yield

    async with Kernel() as kernel:
        instance = kernel.root.load(slow)
        await started.wait()
        assert instance.state == "starting"
        assert await instance.stop() == ()
        assert log == ["cancelled", "undone"]
        assert instance.state == "stopped"
        assert instance.error is None


async def test_a_set_up_that_does_not_notice_its_stop_is_torn_down_in_peace() -> None:
    started, torn_down = anyio.Event(), anyio.Event()

    @plugin()
    async def stubborn(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        started.set()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            pass  # swallowed, wrongly: the plugin goes on to its yield
        yield
        await anyio.lowlevel.checkpoint()  # not cancelled a second time
        torn_down.set()

    async with Kernel() as kernel:
        instance = kernel.root.load(stubborn)
        await started.wait()
        assert await instance.stop() == ()
        assert torn_down.is_set()


async def test_a_provider_that_stops_cancels_the_set_up_of_its_dependents() -> None:
    started = anyio.Event()

    @plugin(requires=[Base])
    async def slow(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        started.set()
        await anyio.sleep_forever()
        yield

    base, _, _ = layers([])
    async with Kernel() as kernel:
        provider, dependent = kernel.root.load(base), kernel.root.load(slow)
        await started.wait()
        await provider.stop()
        assert dependent.state == "pending"


async def test_a_tear_down_that_raises_is_contained_and_the_others_go_on() -> None:
    log: list[str] = []
    base, middle, _ = layers(log)

    @plugin(requires=[Middle])
    async def bad(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield
        raise OSError("disk")

    async with Kernel(on_fault=quiet) as kernel:
        provider = kernel.root.load(base)
        kernel.root.load(middle)
        instance = kernel.root.load(bad)
        await kernel.root.settle()
        await provider.stop()
        assert log[-2:] == ["-middle", "-base"]
        assert instance.state == "pending"
        assert [fault.phase for fault in instance.faults] == ["tear-down"]
        kernel.root.load(base)
        await kernel.root.settle()
        assert instance.state == "active"
        faults = await kernel.root.aclose()
        assert [(fault.instance, fault.phase) for fault in faults] == [("bad", "tear-down")]


async def test_a_restarted_plugin_gets_a_new_context_and_the_old_one_stays_inactive() -> None:
    contexts: list[Context] = []
    base, _, _ = layers([])

    @plugin(requires=[Base])
    async def keeper(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        contexts.append(ctx)
        yield

    async with Kernel() as kernel:
        provider = kernel.root.load(base)
        kernel.root.load(keeper)
        await kernel.root.settle()
        first = contexts[0][Base]
        await provider.stop()
        with pytest.raises(ContextInactive):
            contexts[0][Base]
        kernel.root.load(base)
        await kernel.root.settle()
        assert contexts[1][Base] is not first
        with pytest.raises(ContextInactive):
            contexts[0].get(Base)
        with pytest.raises(ContextInactive):
            contexts[0].contribute("late")


async def test_services_work_until_the_tear_down_is_over() -> None:
    seen: list[Base] = []
    base, _, _ = layers([])

    @plugin(requires=[Base])
    async def late(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.effect(lambda: seen.append(ctx[Base]))
        yield
        seen.append(ctx[Base])

    async with Kernel() as kernel:
        kernel.root.load(base)
        kernel.root.load(late)
        await kernel.root.settle()
    assert len(seen) == 2
    assert seen[0] is seen[1]


async def test_a_task_group_that_breaks_while_active_fails_the_plugin_after_its_dependents() -> None:
    log: list[str] = []
    break_it = anyio.Event()

    async def worker() -> None:
        await break_it.wait()
        raise ValueError("worker died")

    @plugin(provides=[Base])
    async def fragile(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker)
            ctx.provide(Base, Base())
            yield
        log.append("never: the group raised")

    _, middle, user = layers(log)
    async with Kernel(on_fault=quiet) as kernel:
        instance = kernel.root.load(fragile)
        dependents = [kernel.root.load(middle), kernel.root.load(user)]
        await kernel.root.settle()
        log.clear()
        break_it.set()
        while instance.state != "failed":
            await anyio.lowlevel.checkpoint()
        assert log == ["-user", "-middle"]
        assert [each.state for each in dependents] == ["pending", "pending"]
        assert instance.error is not None
        assert "worker died" in "".join(traceback.format_exception(instance.error.__cause__))
        assert [fault.phase for fault in kernel.faults] == ["running"]
        await instance.stop()
        assert instance.state == "stopped"


async def test_a_plugin_that_cancels_around_its_own_yield_is_told_so() -> None:
    scopes: list[anyio.CancelScope] = []

    @plugin()
    async def odd(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            yield

    async with Kernel(on_fault=quiet) as kernel:
        instance = kernel.root.load(odd)
        await kernel.root.settle()
        scopes[0].cancel()
        while instance.state != "failed":
            await anyio.lowlevel.checkpoint()
        assert "cancelled the scope around its own yield" in str(instance.error)


async def test_names_are_unique_in_a_scope() -> None:
    @plugin(name="tool")
    async def tool(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield

    async with Kernel() as kernel:
        names = [kernel.root.load(tool).name for _ in range(3)]
        assert names == ["tool", "tool#2", "tool#3"]
        named = kernel.root.load(tool, name="mine", distribution="seam-tool")
        assert (named.name, named.distribution, named.plugin) == ("mine", "seam-tool", tool)


async def test_a_kernel_that_does_not_run_loads_nothing() -> None:
    base, _, _ = layers([])
    kernel = Kernel()
    with pytest.raises(ContextInactive, match="not running"):
        kernel.root.load(base)
    async with kernel:
        pass
    with pytest.raises(ContextInactive):
        kernel.root.load(base)
    with pytest.raises(ContextInactive, match="runs once"):
        await kernel.__aenter__()
    assert kernel.root.closed
    assert await kernel.root.aclose() == ()


def test_a_kernel_may_be_made_before_its_event_loop(anyio_backend: str) -> None:
    log: list[str] = []
    kernel = Kernel()

    async def main() -> None:
        async with kernel:
            kernel.root.load(layers(log)[0])
            await kernel.root.settle()

    anyio.run(main, backend=anyio_backend)
    assert log == ["+base", "-base"]


async def test_a_body_that_raises_still_stops_everything_in_order() -> None:
    log: list[str] = []

    with pytest.raises(LookupError, match="body"):
        async with Kernel() as kernel:
            for each in layers(log):
                kernel.root.load(each)
            await kernel.root.settle()
            raise LookupError("body")
    assert log[3:] == ["-user", "-middle", "-base"]


async def test_a_cancelled_body_still_stops_everything_in_order() -> None:
    log: list[str] = []

    @plugin(requires=[Base])
    async def patient(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield
        await anyio.lowlevel.checkpoint()
        log.append("-patient")

    base, _, _ = layers(log)
    kernel = Kernel()
    with anyio.CancelScope() as scope:
        async with kernel:
            kernel.root.load(base)
            kernel.root.load(patient)
            await kernel.root.settle()
            scope.cancel()
            await anyio.sleep_forever()
    assert log == ["+base", "-patient", "-base"]
    assert kernel.faults == ()


async def test_loading_happens_in_the_order_that_the_loop_sees_not_inside_load() -> None:
    log: list[str] = []
    base, _, _ = layers(log)
    async with Kernel() as kernel:
        kernel.root.load(base)
        assert log == []
        await kernel.root.settle()
        assert log == ["+base"]


async def test_nothing_of_a_stopped_instance_is_kept() -> None:
    @plugin(requires=[Base])
    async def user(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.contribute("x")
        ctx.on(TICK, ticks.append)
        ctx.start_soon(anyio.sleep_forever)
        yield

    ticks: list[int] = []
    async with Kernel() as kernel:
        kept: list[weakref.ref[Scope | Instance]] = []
        for _ in range(5):
            scope = kernel.root.child("generation")
            base = scope.load(layers([])[0])
            instance = scope.load(user)
            await scope.settle()
            await scope.observe(TICK, 1)
            await kernel.root.observe(TICK, 1)
            kept.append(weakref.ref(scope))
            kept.extend(weakref.ref(each) for each in (base, instance))
            await scope.aclose()
            del scope, base, instance
        for _ in range(3):  # the tasks that have just ended are still known to the event loop
            await anyio.lowlevel.checkpoint()
        gc.collect()
        assert [each() for each in kept if each() is not None] == []


async def test_ke_004_a_plugin_loaded_at_run_time_is_ephemeral_and_the_api_says_so() -> None:
    @plugin()
    async def late(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield

    async with Kernel() as first:
        first.root.load(late)
        await first.root.settle()
        assert [one.name for one in first.root.describe().instances] == ["late"]
    async with Kernel() as second:
        await second.root.settle()
        assert list(second.root.describe().instances) == []
    assert "Ephemeral" in (Scope.load.__doc__ or "")
    parameters = set(inspect.signature(Scope.load).parameters)
    assert parameters == {"self", "plugin", "config", "name", "distribution"}  # nothing that promises more
