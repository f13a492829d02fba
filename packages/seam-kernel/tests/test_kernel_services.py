"""Services: required and optional keys, providing, withdrawing, duplicates."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import cast

import anyio
import anyio.lowlevel
import pytest

from seam.kernel import (
    Context,
    ContextInactive,
    Disposer,
    DuplicateInstance,
    DuplicateProvider,
    Fault,
    InvalidDeclaration,
    Kernel,
    NoConfig,
    Plugin,
    Service,
    ServiceUnavailable,
    UndeclaredService,
    plugin,
)

pytestmark = pytest.mark.anyio


class Store(Service, key="store"):
    """Provided by several plugins here."""

    def read(self) -> int:
        return 1


class Extra(Service, key="extra"):
    """An optional service."""


class Unrelated(Service, key="unrelated"):
    """A service that nobody declares."""


class AnotherStore(Service, key="store"):
    """A second definition that took the same key."""


def quiet(fault: Fault) -> None:
    """A sink for tests that expect faults."""


@plugin(provides=[Store])
async def store(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
    ctx.provide(Store, Store())
    yield


@plugin(provides=[Store], name="second")
async def second_store(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
    ctx.provide(Store, Store())
    yield


@plugin(provides=[Extra])
async def extra(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
    ctx.provide(Extra, Extra())
    yield


def inquirer(found: list[Extra | None], *, store_too: bool = False) -> Plugin[NoConfig]:
    @plugin(requires=[Store] if store_too else [], optional=[Extra])
    async def inquire(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        found.append(ctx.get(Extra))
        yield

    return inquire


async def test_ke_021_an_absent_optional_service_is_none_and_undeclared_access_names_plugin_and_key() -> None:
    contexts: list[Context] = []

    @plugin(requires=[Store], optional=[Extra])
    async def reader(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        contexts.append(ctx)
        yield

    async with Kernel() as kernel:
        kernel.root.load(store)
        kernel.root.load(reader, name="row")
        await kernel.root.settle()
        (ctx,) = contexts
        assert ctx.get(Extra) is None
        assert ctx[Store].read() == 1
        assert ctx.get(Store) is ctx[Store]
        for access in (lambda: ctx[Unrelated], lambda: ctx.get(Unrelated)):
            with pytest.raises(UndeclaredService) as undeclared:
                access()
            assert (undeclared.value.plugin, undeclared.value.key) == ("row", "unrelated")
        with pytest.raises(ServiceUnavailable, match=r"ctx\.get") as unavailable:
            ctx[Extra]
        assert (unavailable.value.plugin, unavailable.value.key) == ("row", "extra")


async def test_another_class_with_the_same_key_was_not_declared() -> None:
    contexts: list[Context] = []

    @plugin(requires=[Store])
    async def reader(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        contexts.append(ctx)
        yield

    async with Kernel() as kernel:
        kernel.root.load(store)
        kernel.root.load(reader)
        await kernel.root.settle()
        with pytest.raises(UndeclaredService):
            contexts[0][AnotherStore]


async def test_two_definitions_of_one_key_do_not_fit_and_say_so() -> None:
    @plugin(requires=[AnotherStore])
    async def reader(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield

    async with Kernel(on_fault=quiet) as kernel:
        kernel.root.load(store)
        instance = kernel.root.load(reader)
        await kernel.root.settle()
        assert instance.state == "failed"
        assert "two definitions claim one key" in str(instance.error)
        assert "AnotherStore" in str(instance.error)


async def test_a_second_provider_is_refused_at_load_naming_key_and_both() -> None:
    async with Kernel() as kernel:
        first = kernel.root.load(store, name="one")
        with pytest.raises(DuplicateProvider) as caught:
            kernel.root.load(second_store, name="two")
        assert (caught.value.key, caught.value.first, caught.value.second) == ("store", "one", "two")
        assert all(word in str(caught.value) for word in ("'store'", "'one'", "'two'"))
        assert [each.name for each in kernel.root.instances] == ["one"]
        await first.stop()
        kernel.root.load(second_store, name="two")


async def test_a_taken_name_is_refused() -> None:
    async with Kernel() as kernel:
        kernel.root.load(store, name="row")
        with pytest.raises(DuplicateInstance):
            kernel.root.load(extra, name="row")
        assert len(kernel.root.instances) == 1


async def test_only_declared_services_are_provided_and_only_once() -> None:
    caught: list[Exception] = []

    def attempt(action: Callable[[], object]) -> None:
        try:
            action()
        except Exception as error:
            caught.append(error)

    @plugin(provides=[Store])
    async def careless(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        attempt(lambda: ctx.provide(Extra, Extra()))
        attempt(lambda: ctx.provide(Store, cast("Store", Extra())))
        ctx.provide(Store, Store())
        attempt(lambda: ctx.provide(Store, Store()))
        yield

    async with Kernel() as kernel:
        kernel.root.load(careless)
        await kernel.root.settle()
    assert [type(error) for error in caught] == [UndeclaredService, InvalidDeclaration, DuplicateProvider]


async def test_nothing_is_visible_before_the_set_up_is_complete() -> None:
    go_on = anyio.Event()
    provided = anyio.Event()

    @plugin(provides=[Store])
    async def slow(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Store, Store())
        ctx.contribute("tool")
        provided.set()
        await go_on.wait()
        yield

    found: list[Extra | None] = []
    async with Kernel() as kernel:
        kernel.root.load(slow)
        dependent = kernel.root.load(inquirer(found, store_too=True))
        await provided.wait()
        assert kernel.root.get(Store) is None
        assert kernel.root.contributions(str) == ()
        assert dependent.state == "pending"
        go_on.set()
        await kernel.root.settle()
        assert kernel.root.get(Store) is not None
        assert [item for _, item in kernel.root.contributions(str)] == ["tool"]
        assert dependent.state == "active"


async def test_an_optional_service_that_is_listed_is_waited_for() -> None:
    found: list[Extra | None] = []
    async with Kernel() as kernel:
        kernel.root.load(inquirer(found))
        kernel.root.load(extra)
        await kernel.root.settle()
        assert len(found) == 1
        assert found[0] is not None


async def test_an_optional_service_that_cannot_come_is_not_waited_for() -> None:
    @plugin(requires=[Unrelated], provides=[Extra])
    async def never(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Extra, Extra())
        yield

    found: list[Extra | None] = []
    async with Kernel() as kernel:
        kernel.root.load(inquirer(found))
        kernel.root.load(never)
        await kernel.root.settle()
        assert found == [None]


async def test_an_optional_service_that_fails_is_not_waited_for() -> None:
    @plugin(provides=[Extra])
    async def broken(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        raise OSError
        yield

    found: list[Extra | None] = []
    async with Kernel(on_fault=quiet) as kernel:
        kernel.root.load(inquirer(found))
        kernel.root.load(broken)
        await kernel.root.settle()
        assert found == [None]


async def test_an_optional_service_that_fails_frees_its_user_even_while_others_are_starting() -> None:
    go_on, failing = anyio.Event(), anyio.Event()

    @plugin()
    async def slow(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        await go_on.wait()
        yield

    @plugin(provides=[Extra])
    async def broken(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        await failing.wait()
        raise OSError
        yield

    found: list[Extra | None] = []
    async with Kernel(on_fault=quiet) as kernel:
        kernel.root.load(slow)
        kernel.root.load(broken)
        user = kernel.root.load(inquirer(found))
        failing.set()
        while user.state != "active":
            await anyio.lowlevel.checkpoint()
        assert found == [None]
        go_on.set()


async def test_an_optional_service_that_comes_or_goes_restarts_its_user() -> None:
    log: list[str] = []

    @plugin(optional=[Extra])
    async def user(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        with_extra = "with" if ctx.get(Extra) else "without"
        log.append(f"+{with_extra}")
        yield
        assert (ctx.get(Extra) is not None) == (with_extra == "with")  # never half gone
        log.append(f"-{with_extra}")

    async with Kernel() as kernel:
        kernel.root.load(user)
        await kernel.root.settle()
        provider = kernel.root.load(extra)
        await kernel.root.settle()
        await provider.stop()
        await kernel.root.settle()
    assert log == ["+without", "-without", "+with", "-with", "+without", "-without"]
    assert kernel.faults == ()


async def test_two_plugins_that_optionally_use_each_other_both_start_and_stay() -> None:
    starts: list[str] = []

    @plugin(optional=[Extra], provides=[Store])
    async def one(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        starts.append("one" if ctx.get(Extra) is None else "one+extra")
        ctx.provide(Store, Store())
        yield

    @plugin(optional=[Store], provides=[Extra])
    async def two(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        starts.append("two" if ctx.get(Store) is None else "two+store")
        ctx.provide(Extra, Extra())
        yield

    async with Kernel() as kernel:
        kernel.root.load(one)
        kernel.root.load(two)
        await kernel.root.settle()
        assert starts == ["one", "two+store"]


async def test_a_required_link_in_a_circle_of_optional_ones_is_kept() -> None:
    starts: list[str] = []

    @plugin(requires=[Extra], provides=[Store])
    async def needy(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        starts.append("needy")
        ctx.provide(Store, Store())
        yield

    @plugin(optional=[Store], provides=[Extra])
    async def easy(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        starts.append("easy" if ctx.get(Store) is None else "easy+store")
        ctx.provide(Extra, Extra())
        yield

    async with Kernel() as kernel:
        kernel.root.load(needy)
        kernel.root.load(easy)
        await kernel.root.settle()
        assert starts == ["easy", "needy"]
        assert all(each.state == "active" for each in kernel.root.instances)


def switchable(withdrawals: list[Disposer], contexts: list[Context]) -> Plugin[NoConfig]:
    @plugin(provides=[Store], name="switchable")
    async def provider(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        contexts.append(ctx)
        withdrawals.append(ctx.provide(Store, Store()))
        yield

    return provider


async def test_withdrawing_a_service_unwinds_its_users_first_and_can_be_reverted() -> None:
    withdrawals: list[Disposer] = []
    contexts: list[Context] = []
    log: list[str] = []

    @plugin(requires=[Store])
    async def user(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        log.append("+user")
        yield
        assert ctx[Store].read() == 1
        log.append("-user")

    async with Kernel() as kernel:
        provider = kernel.root.load(switchable(withdrawals, contexts))
        dependent = kernel.root.load(user)
        await kernel.root.settle()
        await withdrawals[0]()
        assert log == ["+user", "-user"]
        assert (provider.state, dependent.state) == ("active", "pending")
        assert kernel.root.get(Store) is None
        (problem,) = kernel.root.problems()
        assert "active but has not provided it" in problem.text
        await withdrawals[0]()
        contexts[0].provide(Store, Store())
        await kernel.root.settle()
        assert log == ["+user", "-user", "+user"]
    assert kernel.faults == ()


async def test_ke_011_a_consumer_never_sees_a_service_half_gone_while_its_provider_is_reloaded() -> None:
    seen: list[type[BaseException] | int] = []
    calls = 0

    async def loop(ctx: Context) -> None:
        nonlocal calls
        while True:
            try:
                assert ctx[Store].read() == 1
                calls += 1
            except BaseException as error:
                seen.append(type(error))
                raise
            await anyio.sleep(0.001)

    @plugin(requires=[Store])
    async def consumer(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.start_soon(loop, ctx)
        yield

    late: list[Context] = []

    @plugin(requires=[Store])
    async def leaker(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        late.append(ctx)
        yield

    async with Kernel() as kernel:
        kernel.root.load(consumer)
        kernel.root.load(leaker)
        for round_ in range(20):
            provider = kernel.root.load(store)
            await kernel.root.settle()
            before = calls
            while calls == before:  # the consumer really runs in each round
                await anyio.sleep(0.001)
            await provider.stop()
            with pytest.raises((ServiceUnavailable, ContextInactive)):
                late[round_][Store]
    assert seen == []
    assert len(late) == 20
    assert kernel.faults == ()


async def test_an_optional_key_of_what_a_plugin_loaded_itself_does_not_restart_it() -> None:
    starts: list[int] = []

    @plugin(optional=[Extra])
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        starts.append(1)
        ctx.load(extra)
        yield

    async with Kernel() as kernel:
        kernel.root.load(parent)
        await kernel.root.settle()
        assert kernel.root.get(Extra) is not None
        assert starts == [1]


async def test_a_plugin_that_provides_late_is_waited_for_by_those_who_require_it() -> None:
    contexts: list[Context] = []

    @plugin(provides=[Store])
    async def late(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        contexts.append(ctx)
        yield

    found: list[Extra | None] = []
    async with Kernel() as kernel:
        kernel.root.load(late)
        dependent = kernel.root.load(inquirer(found, store_too=True))
        await kernel.root.settle()
        assert dependent.state == "pending"
        contexts[0].provide(Store, Store())
        await kernel.root.settle()
        assert dependent.state == "active"


async def test_bindings_say_who_gives_what() -> None:
    found: list[Extra | None] = []
    async with Kernel() as kernel:
        provider = kernel.root.load(store)
        instance = kernel.root.load(inquirer(found, store_too=True))
        assert dict(instance.bindings) == {}
        await kernel.root.settle()
        assert dict(instance.bindings) == {"store": provider}
