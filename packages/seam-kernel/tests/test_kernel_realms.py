"""Scopes below scopes: where a key resolves, and what a realm isolates."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from seam.kernel import (
    Context,
    ContextInactive,
    Fault,
    Instance,
    Kernel,
    NoConfig,
    Plugin,
    Scope,
    Service,
    plugin,
)

pytestmark = pytest.mark.anyio


class Policy(Service, key="policy"):
    """The service that realms exchange."""

    def __init__(self, mode: str, inner: Policy | None = None) -> None:
        self.mode = mode
        self.inner = inner


class Tool(Service, key="tool"):
    """Provided by users of the policy."""

    def __init__(self, mode: str) -> None:
        self.mode = mode


def quiet(fault: Fault) -> None:
    """A sink for tests that expect faults."""


def policy(mode: str) -> Plugin[NoConfig]:
    @plugin(provides=[Policy], name=f"policy {mode}")
    async def provider(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Policy, Policy(mode))
        yield

    return provider


@plugin(requires=[Policy], provides=[Tool])
async def tool(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
    ctx.provide(Tool, Tool(ctx[Policy].mode))
    yield


@plugin(requires=[Policy], provides=[Policy])
async def wrapper(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
    ctx.provide(Policy, Policy("wrapped", ctx[Policy]))
    yield


@plugin(provides=[Policy])
async def broken(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
    raise LookupError("no policy file")
    yield


def mode_of(scope: Scope) -> str | None:
    found = scope.get(Tool)
    return None if found is None else found.mode


async def test_a_key_resolves_upward() -> None:
    async with Kernel() as kernel:
        kernel.root.load(policy("common"))
        below = kernel.root.child("a").child("b")
        below.load(tool)
        await below.settle()
        assert mode_of(below) == "common"
        assert mode_of(kernel.root) is None


async def test_two_realms_use_different_implementers_of_one_key() -> None:
    async with Kernel() as kernel:
        kernel.root.load(policy("common"))
        strict = kernel.root.child("strict", isolate=frozenset({"policy"}))
        loose = kernel.root.child("loose", isolate=frozenset({"policy"}))
        strict.load(policy("read-only"))
        loose.load(policy("full"))
        for realm in (strict, loose):
            realm.load(tool)
        await kernel.root.settle()
        assert [mode_of(strict), mode_of(loose)] == ["read-only", "full"]


async def test_an_isolated_key_never_comes_from_above() -> None:
    async with Kernel() as kernel:
        kernel.root.load(policy("common"))
        realm = kernel.root.child("realm", isolate=frozenset({"policy"}))
        instance = realm.child("inner").load(tool)
        await realm.settle()
        assert (instance.state, instance.missing) == ("pending", ("policy",))
        assert realm.get(Policy) is None
        realm.load(policy("own"))
        await realm.settle()
        assert instance.state == "active"


async def test_the_own_claimant_counts_even_when_it_failed() -> None:
    async with Kernel(on_fault=quiet) as kernel:
        kernel.root.load(policy("workspace-write"))
        realm = kernel.root.child("realm")
        failed = realm.load(broken)
        instance = realm.load(tool)
        await realm.settle()
        assert (instance.state, mode_of(realm)) == ("pending", None)
        texts = [problem.text for problem in realm.problems()]
        assert "no policy file" in texts[0]
        assert "comes from 'broken', which failed" in texts[1]
        await failed.stop()
        await realm.settle()
        assert mode_of(realm) == "workspace-write"


async def test_a_nearer_provider_takes_over_and_gives_back() -> None:
    async with Kernel() as kernel:
        kernel.root.load(policy("far"))
        realm = kernel.root.child("realm")
        realm.load(tool)
        await realm.settle()
        assert mode_of(realm) == "far"
        near = realm.load(policy("near"))
        await realm.settle()
        assert mode_of(realm) == "near"
        await near.stop()
        await realm.settle()
        assert mode_of(realm) == "far"
    assert kernel.faults == ()


async def test_a_provider_may_wrap_the_one_above_it() -> None:
    async with Kernel() as kernel:
        kernel.root.load(policy("plain"))
        realm = kernel.root.child("realm")
        realm.load(wrapper)
        await realm.settle()
        found = realm.get(Policy)
        assert found is not None
        assert found.inner is kernel.root.get(Policy)


async def test_a_wrapper_with_nothing_above_is_missing_its_key() -> None:
    async with Kernel() as kernel:
        instance = kernel.root.load(wrapper)
        await kernel.root.settle()
        assert instance.missing == ("policy",)
        assert [problem.kind for problem in kernel.root.problems()] == ["missing"]


async def test_a_parents_provider_that_goes_unwinds_dependents_in_children() -> None:
    async with Kernel() as kernel:
        provider = kernel.root.load(policy("common"))
        below = kernel.root.child("below")
        instance = below.load(tool)
        await below.settle()
        await provider.stop()
        assert instance.state == "pending"


async def test_closing_ends_children_before_parents_and_frees_nothing_else() -> None:
    log: list[str] = []

    def logging(name: str) -> Plugin[NoConfig]:
        @plugin(name=name)
        async def each(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
            yield
            log.append(name)

        return each

    async with Kernel() as kernel:
        root = kernel.root
        middle = root.child("middle")
        inner = middle.child("inner")
        for scope in (inner, middle, root):
            scope.load(logging(scope.name))
        await root.settle()
        assert await middle.aclose() == ()
        assert log == ["inner", "middle"]
        assert middle.closed
        assert inner.closed
        assert root.children == ()
        with pytest.raises(ContextInactive):
            middle.load(logging("late"))
        with pytest.raises(ContextInactive):
            middle.child("late")
        await middle.aclose()


async def test_contributions_come_in_listing_order_with_children_beside_their_parents() -> None:
    def giving(number: int, *children: Plugin[NoConfig]) -> Plugin[NoConfig]:
        @plugin(name=f"giving {number}")
        async def each(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
            for child in children:
                ctx.load(child)
            ctx.contribute(number)
            ctx.contribute(f"text {number}")
            yield

        return each

    async with Kernel() as kernel:
        below = kernel.root.child("below")
        below.load(giving(1, giving(11), giving(12)))
        instance: Instance = below.load(giving(2))
        kernel.root.load(giving(0))
        await below.settle()
        assert [item for _, item in below.contributions(int)] == [1, 11, 12, 2]
        assert [item for _, item in below.contributions(int, parents=True)] == [0, 1, 11, 12, 2]
        assert below.contributions(str)[-1] == (instance, "text 2")
        assert below.contributions(bytes) == ()


async def test_a_nearer_provider_that_came_up_on_a_plugin_does_not_hand_it_the_one_above() -> None:
    starts: list[str | None] = []

    @plugin(optional=[Policy], provides=[Tool])
    async def base(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        found = ctx.get(Policy)
        starts.append(None if found is None else found.mode)
        ctx.provide(Tool, Tool("base"))
        yield

    @plugin(requires=[Tool], provides=[Policy])
    async def upon(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.provide(Policy, Policy("near"))
        yield

    async with Kernel() as kernel:
        kernel.root.load(policy("far"))
        realm = kernel.root.child("realm")
        realm.load(base)
        realm.load(upon)
        await realm.settle()
        # `upon` is the nearest claimant and needs `base`: the circle is broken by starting `base` without, once
        assert starts == [None]
        assert [each.state for each in realm.instances] == ["active", "active"]


async def test_an_optional_service_is_given_up_when_a_nearer_claimant_is_listed() -> None:
    starts: list[str | None] = []

    @plugin(optional=[Policy])
    async def user(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        found = ctx.get(Policy)
        starts.append(None if found is None else found.mode)
        yield

    async with Kernel(on_fault=quiet) as kernel:
        kernel.root.load(policy("far"))
        realm = kernel.root.child("realm")
        realm.load(user)
        await realm.settle()
        failed = realm.load(broken)
        await realm.settle()
        assert starts == ["far", None]
        await failed.stop()
        await realm.settle()
        assert starts == ["far", None, "far"]


async def test_a_plugin_keeps_what_it_has_when_it_loads_a_nearer_provider_itself() -> None:
    starts: list[str] = []

    @plugin(requires=[Policy])
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        starts.append(ctx[Policy].mode)
        ctx.load(policy("own"))
        yield

    async with Kernel() as kernel:
        kernel.root.load(policy("far"))
        realm = kernel.root.child("realm")
        realm.load(parent)
        await realm.settle()
        found = realm.get(Policy)
        assert found is not None
        assert (starts, found.mode) == (["far"], "own")
