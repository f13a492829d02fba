"""Events in three modes: who hears them, in which order, and what becomes of errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import anyio
import anyio.lowlevel
import pytest

from seam.kernel import (
    Around,
    Context,
    ContextInactive,
    Decide,
    Fault,
    InvalidDeclaration,
    Kernel,
    MiddlewareFinished,
    MiddlewareSkipped,
    Next,
    NoConfig,
    Observe,
    Plugin,
    plugin,
)

pytestmark = pytest.mark.anyio

UPDATE: Observe[int] = Observe("tests.update")
MAY: Decide[str, bool] = Decide("tests.may")
CALL: Around[str, str] = Around("tests.call")


def quiet(fault: Fault) -> None:
    """A sink for tests that expect faults."""


def listening(name: str, subscribe: Callable[[Context], object]) -> Plugin[NoConfig]:
    @plugin(name=name)
    async def listener(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        subscribe(ctx)
        yield

    return listener


async def innermost(payload: str) -> str:
    return f"<{payload}>"


def wrapping(mark: str) -> Callable[[Context], object]:
    async def listener(payload: str, onward: Next[str, str]) -> str:
        return f"{mark}({await onward(payload + mark)})"

    return lambda ctx: ctx.on(CALL, listener)


async def test_ke_006_a_listener_fires_once_however_often_its_plugin_was_reloaded() -> None:
    calls: list[int] = []
    watcher = listening("watcher", lambda ctx: ctx.on(UPDATE, calls.append))
    async with Kernel() as kernel:
        for value in (1, 2, 3):
            instance = kernel.root.load(watcher)
            await kernel.root.settle()
            await kernel.root.observe(UPDATE, value)
            await instance.stop()
        await kernel.root.observe(UPDATE, 4)
    assert calls == [1, 2, 3]


async def test_a_listener_hears_nothing_before_its_plugin_is_complete() -> None:
    calls: list[int] = []
    listening_already, go_on = anyio.Event(), anyio.Event()

    @plugin()
    async def slow(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.on(UPDATE, calls.append)
        listening_already.set()
        await go_on.wait()
        yield

    async with Kernel() as kernel:
        kernel.root.load(slow)
        await listening_already.wait()
        await kernel.root.observe(UPDATE, 1)
        go_on.set()
        await kernel.root.settle()
        await kernel.root.observe(UPDATE, 2)
    assert calls == [2]


async def test_observers_are_told_in_listing_order_synchronous_or_not() -> None:
    calls: list[str] = []

    async def slow(value: int) -> None:
        await anyio.lowlevel.checkpoint()
        calls.append(f"slow {value}")

    async with Kernel() as kernel:
        kernel.root.load(listening("one", lambda ctx: ctx.on(UPDATE, slow)))
        kernel.root.load(
            listening("two", lambda ctx: ctx.on(UPDATE, lambda value: calls.append(f"fast {value}")))
        )
        await kernel.root.settle()
        await kernel.root.observe(UPDATE, 1)
    assert calls == ["slow 1", "fast 1"]


async def test_an_observer_that_raises_is_contained_and_the_others_are_told() -> None:
    calls: list[int] = []

    def bad(value: int) -> None:
        raise SystemExit(value)

    async with Kernel(on_fault=quiet) as kernel:
        kernel.root.load(listening("bad", lambda ctx: ctx.on(UPDATE, bad)))
        kernel.root.load(listening("good", lambda ctx: ctx.on(UPDATE, calls.append)))
        await kernel.root.settle()
        await kernel.root.observe(UPDATE, 1)
        assert calls == [1]
        (fault,) = kernel.faults
        assert (fault.instance, fault.phase, fault.what) == ("bad", "listener", "tests.update")


async def test_cancelling_the_emitter_is_not_contained() -> None:
    async def hang(value: int) -> None:
        await anyio.sleep_forever()

    async with Kernel() as kernel:
        kernel.root.load(listening("hanging", lambda ctx: ctx.on(UPDATE, hang)))
        await kernel.root.settle()
        with anyio.move_on_after(0.01) as scope:
            await kernel.root.observe(UPDATE, 1)
        assert scope.cancelled_caught
        assert kernel.faults == ()


async def test_every_listener_answers_a_question_and_an_error_is_an_answer() -> None:
    async def slowly(what: str) -> bool:
        await anyio.lowlevel.checkpoint()
        return False

    def bad(what: str) -> bool:
        raise LookupError(what)

    async with Kernel(on_fault=quiet) as kernel:
        assert await kernel.root.decide(MAY, "x") == []
        instances = [
            kernel.root.load(listening("yes", lambda ctx: ctx.on(MAY, lambda what: what == "x"))),
            kernel.root.load(listening("bad", lambda ctx: ctx.on(MAY, bad))),
            kernel.root.load(listening("no", lambda ctx: ctx.on(MAY, slowly))),
        ]
        await kernel.root.settle()
        answers = await kernel.root.decide(MAY, "x")
        assert [(each.plugin, each.value) for each in answers] == [
            ("yes", True),
            ("bad", None),
            ("no", False),
        ]
        assert [each.instance for each in answers] == instances
        assert answers[0].unwrap() is True
        with pytest.raises(LookupError, match="x"):
            answers[1].unwrap()
        assert [fault.instance for fault in kernel.faults] == ["bad"]


async def test_middleware_is_nested_in_listing_order_and_may_change_what_goes_in_and_out() -> None:
    async with Kernel() as kernel:
        assert await kernel.root.around(CALL, "p", innermost) == "<p>"
        kernel.root.load(listening("outer", wrapping("A")))
        kernel.root.load(listening("inner", wrapping("B")))
        await kernel.root.settle()
        assert await kernel.root.around(CALL, "p", innermost) == "A(B(<pAB>))"


async def test_middleware_may_call_next_again() -> None:
    attempts: list[str] = []

    async def flaky(payload: str) -> str:
        attempts.append(payload)
        if len(attempts) < 3:
            raise ConnectionError(payload)
        return "done"

    async def retry(payload: str, onward: Next[str, str]) -> str:
        while True:
            try:
                return await onward(payload)
            except ConnectionError:
                continue

    async with Kernel() as kernel:
        kernel.root.load(listening("retry", lambda ctx: ctx.on(CALL, retry)))
        await kernel.root.settle()
        assert await kernel.root.around(CALL, "p", flaky) == "done"
        assert attempts == ["p", "p", "p"]


async def test_middleware_that_skips_next_is_named_and_what_it_raises_goes_to_the_caller() -> None:
    async def skipping(payload: str, onward: Next[str, str]) -> str:
        if payload == "refuse":
            raise PermissionError(payload)
        return "made up"

    async with Kernel() as kernel:
        kernel.root.load(listening("skipper", lambda ctx: ctx.on(CALL, skipping)))
        await kernel.root.settle()
        with pytest.raises(MiddlewareSkipped) as caught:
            await kernel.root.around(CALL, "p", innermost)
        assert (caught.value.plugin, caught.value.event) == ("skipper", "tests.call")
        with pytest.raises(PermissionError):
            await kernel.root.around(CALL, "refuse", innermost)
        assert kernel.faults == ()


async def test_next_is_dead_once_its_listener_has_returned() -> None:
    kept: list[Next[str, str]] = []

    async def leaking(payload: str, onward: Next[str, str]) -> str:
        kept.append(onward)
        return await onward(payload)

    async with Kernel() as kernel:
        kernel.root.load(listening("leaking", lambda ctx: ctx.on(CALL, leaking)))
        await kernel.root.settle()
        await kernel.root.around(CALL, "p", innermost)
        with pytest.raises(MiddlewareFinished):
            await kept[0]("again")


async def test_listeners_of_a_plugin_that_stops_during_an_emission_are_left_out() -> None:
    calls: list[int] = []
    async with Kernel() as kernel:

        async def stop_the_others(value: int) -> None:
            await second.stop()
            await third.stop()

        async def stop_middle(payload: str, onward: Next[str, str]) -> str:
            await fourth.stop()
            return await onward(payload)

        kernel.root.load(listening("first", lambda ctx: ctx.on(UPDATE, stop_the_others)))
        second = kernel.root.load(listening("second", lambda ctx: ctx.on(UPDATE, calls.append)))
        third = kernel.root.load(listening("third", lambda ctx: ctx.on(UPDATE, calls.append)))
        kernel.root.load(listening("outer", lambda ctx: ctx.on(CALL, stop_middle)))
        fourth = kernel.root.load(listening("fourth", wrapping("X")))
        await kernel.root.settle()
        await kernel.root.observe(UPDATE, 1)
        assert calls == []
        assert await kernel.root.around(CALL, "p", innermost) == "<p>"


async def test_listeners_of_parents_come_first_and_those_of_children_do_not_hear() -> None:
    calls: list[str] = []

    def hearing(name: str) -> Plugin[NoConfig]:
        return listening(name, lambda ctx: ctx.on(UPDATE, lambda value: calls.append(f"{name} {value}")))

    async with Kernel() as kernel:
        below = kernel.root.child("below")
        below.load(hearing("child"))
        kernel.root.load(hearing("parent"))
        await below.settle()
        await below.observe(UPDATE, 1)
        await kernel.root.observe(UPDATE, 2)
    assert calls == ["parent 1", "child 1", "parent 2"]


async def test_a_plugin_emits_into_its_own_scope_until_it_has_stopped() -> None:
    calls: list[int] = []
    contexts: list[Context] = []

    @plugin()
    async def emitting(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        contexts.append(ctx)
        yield
        await ctx.observe(UPDATE, 2)

    async with Kernel() as kernel:
        kernel.root.load(listening("listener", lambda ctx: ctx.on(UPDATE, calls.append)))
        kernel.root.load(listening("answers", lambda ctx: ctx.on(MAY, lambda what: True)))
        kernel.root.load(listening("wraps", wrapping("A")))
        instance = kernel.root.load(emitting)
        await kernel.root.settle()
        await contexts[0].observe(UPDATE, 1)
        assert [each.value for each in await contexts[0].decide(MAY, "x")] == [True]
        assert await contexts[0].around(CALL, "p", innermost) == "A(<pA>)"
        await instance.stop()
        with pytest.raises(ContextInactive):
            await contexts[0].observe(UPDATE, 3)
    assert calls == [1, 2]


async def test_what_is_not_an_event_is_refused() -> None:
    caught: list[InvalidDeclaration] = []

    def subscribe(ctx: Context) -> None:
        try:
            ctx.on("tests.update", print)  # pyright: ignore[reportCallIssue, reportArgumentType]  # that is the point
        except InvalidDeclaration as error:
            caught.append(error)

    async with Kernel() as kernel:
        kernel.root.load(listening("odd", subscribe))
        await kernel.root.settle()
    assert len(caught) == 1
