"""Problems and descriptions: what a person is told about a scope."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
from pydantic import ValidationError

from seam.kernel import Context, Fault, Kernel, NoConfig, Plugin, ScopeFacts, Service, plugin

pytestmark = pytest.mark.anyio


class A(Service, key="svc_a"):
    """Service a."""


class B(Service, key="svc_b"):
    """Service b."""


class C(Service, key="svc_c"):
    """Service c."""


def quiet(fault: Fault) -> None:
    """A sink for tests that expect faults."""


def link(
    name: str,
    *,
    requires: Sequence[type[Service]] = (),
    optional: Sequence[type[Service]] = (),
    provides: type[Service] | None = None,
) -> Plugin[NoConfig]:
    @plugin(name=name, requires=requires, optional=optional, provides=[provides] if provides else [])
    async def linked(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        if provides:
            ctx.provide(provides, provides())
        yield

    return linked


async def test_ke_019_a_requirement_cycle_is_reported_with_its_path() -> None:
    async with Kernel() as kernel:
        a = kernel.root.load(link("a", requires=[B], provides=A))
        kernel.root.load(link("b", requires=[A], provides=B))
        kernel.root.load(link("downstream", requires=[A]))
        await kernel.root.settle()
        cycle, downstream = kernel.root.problems()
        assert (cycle.kind, cycle.instance, cycle.path) == ("cycle", a, ("a", "b", "a"))
        assert cycle.keys == ("svc_b", "svc_a")
        assert "a -> b -> a" in cycle.text
        assert (downstream.kind, downstream.keys) == ("missing", ("svc_a",))
        assert "comes from 'a', which is pending itself" in downstream.text


async def test_ke_019_a_cycle_in_a_candidate_leaves_the_working_scope_alone() -> None:
    async with Kernel() as kernel:
        old = kernel.root.child("old")
        old.load(link("a", provides=A))
        old.load(link("b", requires=[A], provides=B))
        await old.settle()
        old.seal()
        new = kernel.root.child("new")
        new.load(link("a", requires=[B], provides=A))
        new.load(link("b", requires=[A], provides=B))
        await new.settle()
        assert [problem.path for problem in new.problems()] == [("a", "b", "a")]
        await new.aclose()
        assert [each.state for each in old.instances] == ["active", "active"]
        assert old.problems() == ()


async def test_a_longer_cycle_starts_at_the_first_listed() -> None:
    async with Kernel() as kernel:
        kernel.root.load(link("free", provides=None))
        kernel.root.load(link("c", requires=[A], provides=C))
        kernel.root.load(link("a", requires=[B], provides=A))
        kernel.root.load(link("b", requires=[C], provides=B))
        await kernel.root.settle()
        assert [problem.path for problem in kernel.root.problems()] == [("c", "a", "b", "c")]


async def test_an_optional_link_breaks_a_cycle() -> None:
    async with Kernel() as kernel:
        kernel.root.load(link("a", requires=[B], provides=A))
        kernel.root.load(link("b", optional=[A], provides=B))
        await kernel.root.settle()
        assert kernel.root.problems() == ()


async def test_missing_keys_are_named_with_the_reason() -> None:
    async with Kernel() as kernel:
        below = kernel.root.child("below")
        below.load(link("user", requires=[A, B]), distribution="seam-user")
        below.load(link("middle", requires=[C], provides=B))
        await below.settle()
        user, middle = below.problems()
        assert (user.kind, user.keys, user.instance.distribution) == (
            "missing",
            ("svc_a", "svc_b"),
            "seam-user",
        )
        assert "nothing in scope 'below' provides 'svc_a'" in user.text
        assert "'svc_b' comes from 'middle', which is pending itself" in user.text
        assert middle.keys == ("svc_c",)
        assert kernel.root.problems() == below.problems()


async def test_a_description_is_frozen_data_of_the_whole_tree() -> None:
    @plugin(name="broken")
    async def broken(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        raise LookupError("gone")
        yield

    @plugin(name="parent", requires=[A])
    async def parent(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.load(link("child", optional=[B]))
        yield

    async with Kernel(on_fault=quiet) as kernel:
        kernel.root.load(link("a", provides=A), distribution="seam-a")
        below = kernel.root.child("below", isolate=frozenset({"svc_c", "svc_b"}))
        below.load(parent)
        below.load(broken)
        below.load(link("waiting", requires=[C]))
        await kernel.root.settle()
        below.seal()
        facts = kernel.root.describe()
        assert [service.model_dump() for service in facts.services] == [
            {"key": "svc_a", "provider": "a", "service": f"{__name__}.A"}
        ]
        assert (facts.instances[0].distribution, facts.instances[0].holders) == ("seam-a", ("root",))
        (inner,) = facts.children
        assert (inner.name, inner.sealed, inner.isolate) == ("below", True, ("svc_b", "svc_c"))
        first, second, third = inner.instances
        assert (first.state, first.uses, first.requires) == ("active", {"svc_a": "a"}, ("svc_a",))
        assert [(child.name, child.optional) for child in first.children] == [("child", ("svc_b",))]
        assert (second.state, second.faults) == ("failed", 1)
        assert "LookupError: gone" in str(second.error)
        assert (third.state, third.missing) == ("pending", ("svc_c",))
        assert ScopeFacts.model_validate_json(facts.model_dump_json()) == facts
        with pytest.raises(ValidationError):
            facts.name = "other"  # pyright: ignore[reportAttributeAccessIssue]  # frozen: that is the point


async def test_nothing_is_a_problem_in_an_empty_scope() -> None:
    async with Kernel() as kernel:
        await kernel.root.settle()
        assert kernel.root.problems() == ()
        assert kernel.root.describe() == ScopeFacts(
            name="root", sealed=False, isolate=(), services=(), instances=(), children=()
        )
