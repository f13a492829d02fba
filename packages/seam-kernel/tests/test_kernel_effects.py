"""Effects: order, disposers, tasks, children; and how much time an undo gets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import anyio
import anyio.lowlevel
import pytest

from seam.kernel import (
    Context,
    ContextInactive,
    Disposer,
    DuplicateProvider,
    Fault,
    Instance,
    Kernel,
    NoConfig,
    Observe,
    Plugin,
    Service,
    TeardownAbandoned,
    plugin,
)

pytestmark = pytest.mark.anyio


class Thing(Service, key="thing"):
    """Provided here and there."""


PING: Observe[int] = Observe("tests.ping")


def quiet(fault: Fault) -> None:
    """A sink for tests that expect faults."""


def bare(name: str = "bare") -> Plugin[NoConfig]:
    @plugin(name=name)
    async def nothing(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield

    return nothing


async def test_effects_are_undone_in_reverse_before_the_code_after_yield() -> None:
    log: list[str] = []

    @plugin()
    async def busy(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        async def later(text: str) -> None:
            await anyio.lowlevel.checkpoint()
            log.append(text)

        async def worker() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                log.append("task")

        @plugin()
        async def child(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
            yield
            log.append("child")

        ctx.effect(lambda: log.append("one"))
        ctx.start_soon(worker)
        ctx.effect(partial(later, "two"))
        ctx.load(child)
        ctx.effect(lambda: log.append("three"))
        yield
        log.append("after yield")

    async with Kernel() as kernel:
        kernel.root.load(busy)
        await kernel.root.settle()
    assert log == ["three", "child", "two", "task", "one", "after yield"]
    assert kernel.faults == ()


async def test_an_undo_that_raises_is_reported_and_the_rest_goes_on() -> None:
    log: list[str] = []

    def bad() -> None:
        raise OSError("undo")

    @plugin()
    async def busy(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.effect(lambda: log.append("one"))
        ctx.effect(bad, "closing the file")
        ctx.effect(lambda: log.append("three"))
        yield
        log.append("after yield")

    async with Kernel(on_fault=quiet) as kernel:
        instance = kernel.root.load(busy)
        await kernel.root.settle()
        (fault,) = await instance.stop()
        assert log == ["three", "one", "after yield"]
        assert (fault.instance, fault.phase, fault.what) == ("busy", "effect", "closing the file")
        assert isinstance(fault.error, OSError)
        assert kernel.faults == (fault,)


async def test_disposers_are_idempotent_and_take_exactly_their_own() -> None:
    log: list[str] = []
    disposers: list[Disposer] = []
    contexts: list[Context] = []

    @plugin()
    async def busy(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        contexts.append(ctx)
        disposers.append(ctx.effect(lambda: log.append("one")))
        yield

    async with Kernel() as kernel:
        kernel.root.load(busy)
        await kernel.root.settle()
        first = contexts[0].contribute("x")
        first()
        contexts[0].contribute("x")
        first()
        assert [item for _, item in kernel.root.contributions(str)] == ["x"]
        off = contexts[0].on(PING, lambda number: log.append(f"first {number}"))
        off()
        contexts[0].on(PING, lambda number: log.append(f"second {number}"))
        off()
        await kernel.root.observe(PING, 1)
        await disposers[0]()
        await disposers[0]()
    await disposers[0]()
    assert log == ["second 1", "one"]


async def test_a_disposer_raises_what_its_undo_raises() -> None:
    disposers: list[Disposer] = []

    def bad() -> None:
        raise OSError("undo")

    @plugin()
    async def busy(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        disposers.append(ctx.effect(bad))
        yield

    async with Kernel() as kernel:
        kernel.root.load(busy)
        await kernel.root.settle()
        with pytest.raises(OSError, match="undo"):
            await disposers[0]()
    assert kernel.faults == ()


async def test_ke_005_nothing_is_registered_once_a_plugin_is_stopping() -> None:
    refused: list[str] = []
    registered: list[Context] = []

    def attempts(ctx: Context) -> None:
        for action in (
            lambda: ctx.load(bare("late")),
            lambda: ctx.contribute("late"),
            lambda: ctx.on(PING, lambda number: None),
            lambda: ctx.start_soon(anyio.sleep_forever),
            lambda: ctx.effect(partial(attempts, ctx)),
            lambda: ctx.provide(Thing, Thing()),
        ):
            try:
                action()
            except ContextInactive as error:
                refused.append(error.code)
            else:
                registered.append(ctx)

    @plugin(provides=[Thing])
    async def greedy(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.effect(partial(attempts, ctx))
        yield
        attempts(ctx)

    async with Kernel() as kernel:
        instance = kernel.root.load(greedy)
        await kernel.root.settle()
        await instance.stop()
        assert (len(refused), registered) == (12, [])
        assert kernel.root.instances == ()


async def test_ke_005_the_rollback_of_a_set_up_cannot_be_kept_busy_for_ever() -> None:
    undone: list[int] = []

    @plugin()
    async def broken(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        def again() -> None:
            undone.append(1)
            ctx.effect(again)

        ctx.effect(again)
        raise LookupError("half-way")
        yield

    async with Kernel(on_fault=quiet) as kernel:
        instance = kernel.root.load(broken)
        await kernel.root.settle()
        assert undone == [1]
        assert [type(fault.error) for fault in instance.faults] == [LookupError, ContextInactive]


async def test_ke_005_a_child_loaded_while_the_parents_set_up_is_disposed_is_refused() -> None:
    waiting, refused = anyio.Event(), anyio.Event()

    @plugin()
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.load(bare("early"))
        try:
            waiting.set()
            await anyio.sleep_forever()
        finally:
            try:
                ctx.load(bare("late"))
            except ContextInactive:
                refused.set()
        yield

    async with Kernel() as kernel:
        instance = kernel.root.load(parent)
        await waiting.wait()
        await instance.stop()
        assert refused.is_set()
        assert kernel.root.instances == ()


async def test_ke_007_disposing_of_a_child_leaves_its_parent_active() -> None:
    children: list[Instance] = []

    @plugin()
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        children.append(ctx.load(bare("child")))
        yield

    async with Kernel() as kernel:
        instance = kernel.root.load(parent)
        await kernel.root.settle()
        assert [each.name for each in kernel.root.instances] == ["parent", "child"]
        assert children[0].parent is instance
        await children[0].stop()
        assert (instance.state, children[0].state) == ("active", "stopped")
        assert [each.name for each in kernel.root.instances] == ["parent"]
        assert kernel.root.problems() == ()


async def test_children_die_with_their_parent_and_come_back_with_it() -> None:
    log: list[str] = []

    @plugin(provides=[Thing])
    async def provider(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Thing, Thing())
        yield

    @plugin(name="grandchild")
    async def grandchild(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        log.append("+grandchild")
        yield
        log.append("-grandchild")

    @plugin(name="child")
    async def child(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.load(grandchild)
        log.append("+child")
        yield
        log.append("-child")

    @plugin(requires=[Thing])
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.load(child, name="fixed name")
        yield
        log.append("-parent")

    async with Kernel() as kernel:
        first = kernel.root.load(provider)
        kernel.root.load(parent)
        await kernel.root.settle()
        await first.stop()
        assert log == ["+child", "+grandchild", "-grandchild", "-child", "-parent"]
        assert [each.name for each in kernel.root.instances] == ["parent"]
        kernel.root.load(provider)
        await kernel.root.settle()
        assert [each.state for each in kernel.root.instances] == ["active"] * 4
    assert kernel.faults == ()


async def test_a_child_does_not_start_again_while_its_parent_is_stopping() -> None:
    log: list[str] = []
    slow, go_on = anyio.Event(), anyio.Event()

    @plugin(provides=[Thing])
    async def provider(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Thing, Thing())
        yield

    @plugin(requires=[Thing])
    async def child(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        log.append("+child")
        yield

    async def wait() -> None:
        slow.set()
        await go_on.wait()

    @plugin(requires=[Thing])
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.load(child)
        ctx.effect(wait)
        yield

    async with Kernel() as kernel:
        scope = kernel.root.child("scope")
        kernel.root.load(provider, name="first")
        instance = scope.load(parent)
        await scope.settle()
        assert log == ["+child"]
        nearer = scope.load(provider, name="second")  # unwinds both users of the first
        await slow.wait()
        while nearer.state != "active":
            await anyio.lowlevel.checkpoint()
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        assert (instance.state, log) == ("stopping", ["+child"])
        go_on.set()
        await scope.settle()
        assert [each.state for each in scope.instances] == ["active"] * 3
        assert log == ["+child", "+child"]


async def test_a_child_may_use_a_service_of_its_parent() -> None:
    log: list[str] = []

    @plugin(requires=[Thing])
    async def child(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield
        assert ctx[Thing] is not None
        log.append("-child")

    @plugin(provides=[Thing])
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Thing, Thing())
        ctx.load(child)
        yield
        log.append("-parent")

    async with Kernel() as kernel:
        instance = kernel.root.load(parent)
        await kernel.root.settle()
        assert [each.state for each in kernel.root.instances] == ["active", "active"]
        await instance.stop()
        assert log == ["-child", "-parent"]
        assert kernel.root.instances == ()


async def test_a_child_that_fails_leaves_its_parent_active() -> None:
    @plugin()
    async def broken(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        raise LookupError
        yield

    @plugin(provides=[Thing])
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.load(broken)
        yield

    async with Kernel(on_fault=quiet) as kernel:
        kernel.root.load(parent)
        await kernel.root.settle()
        assert [each.state for each in kernel.root.instances] == ["active", "failed"]


async def test_a_child_cannot_claim_what_another_claims() -> None:
    caught: list[DuplicateProvider] = []

    @plugin(provides=[Thing])
    async def provider(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield

    @plugin()
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        try:
            ctx.load(provider, name="inner")
        except DuplicateProvider as error:
            caught.append(error)
        yield

    async with Kernel() as kernel:
        kernel.root.load(provider, name="outer")
        kernel.root.load(parent)
        await kernel.root.settle()
    assert (caught[0].first, caught[0].second) == ("outer", "inner")


async def test_ke_010_a_task_of_an_unloaded_plugin_is_cancelled_and_a_late_access_raises_in_it_only() -> None:
    ended: list[str] = []
    late: list[BaseException] = []
    contexts: list[Context] = []

    async def timer(ctx: Context) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("timer")

    @plugin(provides=[Thing])
    async def provider(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Thing, Thing())
        yield

    @plugin(requires=[Thing])
    async def timed(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        contexts.append(ctx)
        ctx.start_soon(timer, ctx)
        yield

    async with Kernel() as kernel:
        kernel.root.load(provider)
        instance = kernel.root.load(timed)
        await kernel.root.settle()
        await instance.stop()
        assert ended == ["timer"]

        async def stray() -> None:  # a task that the plugin did not give to the kernel
            try:
                contexts[0][Thing]
            except ContextInactive as error:
                late.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stray)
        assert len(late) == 1
        assert kernel.root.get(Thing) is not None


@pytest.mark.parametrize("error", [ValueError("crash"), SystemExit(1)], ids=repr)
async def test_a_task_that_crashes_is_recorded_and_everything_lives_on(error: BaseException) -> None:
    async def crash() -> None:
        raise error

    @plugin()
    async def busy(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.start_soon(crash, name="poller")
        yield

    heard: list[Fault] = []
    async with Kernel(on_fault=heard.append) as kernel:
        instance = kernel.root.load(busy)
        await kernel.root.settle()
        while not heard:
            await anyio.lowlevel.checkpoint()
        assert instance.state == "active"
        assert (heard[0].phase, heard[0].what, heard[0].error) == ("task", "poller", error)
        assert instance.faults == tuple(heard)
        assert "busy" in str(heard[0])
        assert "poller" in str(heard[0])


async def test_a_task_can_be_ended_by_its_disposer_and_ends_by_itself() -> None:
    log: list[str] = []
    disposers: list[Disposer] = []

    async def forever() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            log.append("ended")

    async def short(number: int) -> None:
        log.append(f"short {number}")

    @plugin()
    async def busy(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        disposers.append(ctx.start_soon(forever))
        disposers.append(ctx.start_soon(short, 7))
        yield

    async with Kernel() as kernel:
        kernel.root.load(busy)
        await kernel.root.settle()
        while "short 7" not in log:
            await anyio.lowlevel.checkpoint()
        await disposers[0]()
        assert log == ["short 7", "ended"]
        await disposers[1]()
        await disposers[0]()


async def test_a_plugin_can_stop_itself_from_its_own_task() -> None:
    @plugin()
    async def suicidal(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.start_soon(ctx.instance.stop)
        yield

    async with Kernel() as kernel:
        instance = kernel.root.load(suicidal)
        await instance.wait_stopped()
        assert kernel.faults == ()


async def test_a_tear_down_that_hangs_is_cancelled_after_the_grace_and_named() -> None:
    log: list[str] = []

    @plugin()
    async def hanging(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.effect(lambda: log.append("first"))
        ctx.effect(anyio.sleep_forever, "the connection")
        yield
        log.append("after yield")
        try:
            await anyio.sleep_forever()
        finally:
            log.append("cancelled")

    async with Kernel(grace=0.05, on_fault=quiet) as kernel:
        instance = kernel.root.load(hanging, name="row")
        await kernel.root.settle()
        faults = await instance.stop()
    assert log == ["first", "after yield", "cancelled"]
    assert [(fault.what, type(fault.error)) for fault in faults] == [
        ("the connection", TeardownAbandoned),
        ("the code after yield", TeardownAbandoned),
    ]
    assert "'row'" in str(faults[0].error)


async def test_a_tear_down_that_ignores_its_cancellation_is_left_behind_and_named() -> None:
    let_go = anyio.Event()
    log: list[str] = []

    @plugin(provides=[Thing])
    async def provider(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Thing, Thing())
        yield
        log.append("-provider")

    async def hang() -> None:
        with anyio.CancelScope(shield=True):
            await let_go.wait()

    async def worker() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            log.append("-worker")

    @plugin(requires=[Thing])
    async def deaf(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.contribute("x")
        ctx.start_soon(worker)
        ctx.load(bare("child"))
        ctx.effect(hang)
        yield

    async with Kernel(grace=0.05, abandon_after=0.05, on_fault=quiet) as kernel:
        kernel.root.load(provider)
        kernel.root.load(deaf)
        await kernel.root.settle()
        faults = await kernel.root.aclose()
        let_go.set()
        (fault,) = faults
        assert (fault.instance, fault.phase) == ("deaf", "tear-down")
        assert isinstance(fault.error, TeardownAbandoned)
        assert fault.error.ended is False
        assert sorted(log) == ["-provider", "-worker"]
        assert kernel.root.closed
        assert kernel.root.instances == ()


async def test_a_set_up_that_ignores_its_cancellation_is_left_behind_and_named() -> None:
    started, let_go = anyio.Event(), anyio.Event()

    @plugin(provides=[Thing])
    async def deaf(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        with anyio.CancelScope(shield=True):
            started.set()
            await let_go.wait()
        yield

    async with Kernel(grace=0.05, abandon_after=0.05, on_fault=quiet) as kernel:
        instance = kernel.root.load(deaf)
        await started.wait()
        faults = await instance.stop()
        let_go.set()
        assert [type(fault.error) for fault in faults] == [TeardownAbandoned]
        assert instance.state == "stopped"
        again = kernel.root.load(deaf)
        await kernel.root.settle()
        assert again.state == "active"


async def test_a_task_that_ignores_its_cancellation_is_named_and_the_undo_goes_on() -> None:
    let_go, running = anyio.Event(), anyio.Event()
    log: list[str] = []

    async def deaf() -> None:
        with anyio.CancelScope(shield=True):
            running.set()
            await let_go.wait()

    @plugin()
    async def owner(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.effect(lambda: log.append("first"))
        ctx.start_soon(deaf, name="deaf")
        yield
        log.append("after yield")

    async with Kernel(grace=0.05, abandon_after=0.05, on_fault=quiet) as kernel:
        instance = kernel.root.load(owner)
        await running.wait()
        await kernel.root.settle()
        faults = await instance.stop()
        let_go.set()
        assert [fault.what for fault in faults] == ["task deaf"]
        assert log == ["first", "after yield"]


async def test_the_grace_of_a_parent_stands_still_while_a_child_uses_its_own() -> None:
    log: list[str] = []

    async def clean() -> None:
        await anyio.sleep(0.15)
        log.append("clean")

    @plugin()
    async def slow_child(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.effect(clean)
        yield

    @plugin()
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.effect(clean)
        ctx.load(slow_child, name="one")
        ctx.load(slow_child, name="two")
        ctx.load(slow_child, name="three")
        yield

    async with Kernel(grace=0.4) as kernel:
        kernel.root.load(parent)
        await kernel.root.settle()
    assert log == ["clean"] * 4
    assert kernel.faults == ()


async def test_a_sink_that_raises_does_not_stop_anything(caplog: pytest.LogCaptureFixture) -> None:
    def bad_sink(fault: Fault) -> None:
        raise RuntimeError("sink")

    @plugin()
    async def broken(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        raise LookupError("plugin")
        yield

    async with Kernel(on_fault=bad_sink) as kernel:
        instance = kernel.root.load(broken)
        await kernel.root.settle()
        assert instance.state == "failed"
    assert "the sink of faults failed" in caplog.text


async def test_faults_are_logged_by_default_and_bounded(caplog: pytest.LogCaptureFixture) -> None:
    contexts: list[Context] = []

    def bad(number: int) -> None:
        raise ValueError(f"number {number}")

    @plugin()
    async def busy(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.on(PING, bad)
        contexts.append(ctx)
        yield

    async with Kernel(faults_kept=3) as kernel:
        instance = kernel.root.load(busy)
        await kernel.root.settle()
        for number in range(5):
            await contexts[0].observe(PING, number)
        assert [str(fault.error) for fault in instance.faults] == ["number 2", "number 3", "number 4"]
        assert len(kernel.faults) == 3
    assert caplog.text.count("busy: listener of tests.ping failed") == 5
