"""Random graphs of plugins and random histories: what holds whatever happens, in whatever order."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seam.kernel import (
    Context,
    DuplicateProvider,
    Fault,
    Instance,
    Kernel,
    NoConfig,
    Plugin,
    Scope,
    Service,
    plugin,
)

KEYS = 8
SCOPES = ("root", "left", "right", "leaf")


class Numbered(Service, key="numbered"):
    """What all services of this file are made of."""

    def __init__(self) -> None:
        self.alive = True
        self.users = 0


def make_key(number: int) -> type[Numbered]:
    # A class of its own for each key; the common parent's key would be inherited, so it is laid below it here.
    return type(f"Key{number}", (Numbered,), {"service_key": f"key{number}"})


CLASSES = tuple(make_key(number) for number in range(KEYS))


@dataclass(frozen=True)
class Shape:
    """One plugin: the numbers of its keys, where it is loaded, how it behaves."""

    requires: frozenset[int]
    optional: frozenset[int]
    provides: frozenset[int]
    scope: str
    pauses: tuple[int, int]
    fails: bool
    child: frozenset[int] | None
    """What a plugin that it loads itself requires, if it loads one."""


@dataclass
class World:
    """What the plugins saw; every assertion that fails inside one is a fault of the kernel under test."""

    starts: int = 0
    ends: int = 0
    complaints: list[str] = field(default_factory=list[str])

    def expect(self, truth: bool, text: str) -> None:
        if not truth:
            self.complaints.append(text)


def build(world: World, shape: Shape, name: str) -> Plugin[NoConfig]:
    requires = [CLASSES[number] for number in sorted(shape.requires)]
    optional = [CLASSES[number] for number in sorted(shape.optional - shape.requires)]
    provides = [CLASSES[number] for number in sorted(shape.provides)]

    @plugin(name=name, requires=requires, optional=optional, provides=provides)
    async def node(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        used = [ctx[each] for each in requires] + [found for each in optional if (found := ctx.get(each))]
        world.starts += 1
        for each in used:
            world.expect(each.alive, f"{name} starts on a dead service")
            each.users += 1
        ctx.effect(lambda: leave(used))
        for _ in range(shape.pauses[0]):
            await anyio.lowlevel.checkpoint()
        if shape.fails:
            raise LookupError(name)
        for each in provides:
            made = each()
            ctx.effect(lambda made=made: die(made))
            ctx.provide(each, made)
        if shape.child is not None:
            inner = Shape(shape.child, frozenset(), frozenset(), shape.scope, (1, 1), fails=False, child=None)
            ctx.load(build(world, inner, f"{name}/child"), name=f"{name}/child")
        yield
        for _ in range(shape.pauses[1]):
            await anyio.lowlevel.checkpoint()

    def leave(used: list[Numbered]) -> None:
        world.ends += 1
        for each in used:
            world.expect(each.alive, f"{name} still runs on a dead service")
            each.users -= 1

    def die(made: Numbered) -> None:
        world.expect(made.users == 0, f"{name} goes before {made.users} users")
        made.alive = False

    return node


keys = st.frozensets(st.integers(0, KEYS - 1), max_size=2)
shapes = st.builds(
    Shape,
    requires=keys,
    optional=keys,
    provides=keys,
    scope=st.sampled_from(SCOPES),
    pauses=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    fails=st.sampled_from([False] * 9 + [True]),
    child=st.none() | keys,
)
steps = st.lists(
    st.tuples(st.sampled_from(["stop", "reload", "pause", "settle"]), st.integers(0, 11), st.integers(0, 4)),
    max_size=12,
)


async def play(shapes: list[Shape], steps: list[tuple[str, int, int]], isolate: frozenset[str]) -> World:
    world = World()
    planned = {f"p{number}" for number, shape in enumerate(shapes) if shape.fails}
    heard: list[Fault] = []
    async with Kernel(grace=30, on_fault=heard.append) as kernel:
        root = kernel.root
        left = root.child("left", isolate=isolate)
        scopes: dict[str, Scope] = {
            "root": root,
            "left": left,
            "right": root.child("right"),
            "leaf": left.child("leaf"),
        }
        listed: dict[int, Instance] = {}

        def load(number: int) -> None:
            shape = shapes[number]
            with contextlib.suppress(DuplicateProvider):
                listed[number] = scopes[shape.scope].load(build(world, shape, f"p{number}"))

        for number in range(len(shapes)):
            load(number)
        for action, choice, pauses in steps:
            number = choice % len(shapes)
            if action == "settle":
                await root.settle()
                check(root, world)
            elif action == "pause":
                for _ in range(pauses):
                    await anyio.lowlevel.checkpoint()
            elif number in listed:
                await listed.pop(number).stop()
                if action == "reload":
                    load(number)
        await root.settle()
        check(root, world)
        scopes["leaf"].seal()
    assert world.starts == world.ends
    assert {fault.instance for fault in heard} <= planned
    return world


def uses(user: Instance | None, used: Instance) -> bool:
    """Whether one runs on the other, directly or not."""
    if user is None or user is used:
        return user is used
    return uses(user.parent, used) or any(uses(each, used) for each in user.bindings.values())


def check(root: Scope, world: World) -> None:
    """Compare a settled tree with what the declarations say."""
    scopes = [root, *root.children, *(leaf for child in root.children for leaf in child.children)]
    homes = {instance: scope for scope in scopes for instance in scope.instances}
    claims = {
        (scope, service.service_key): instance
        for instance, scope in homes.items()
        for service in instance.plugin.provides
    }
    isolated = {scope: set(scope.describe().isolate) for scope in scopes}

    def giver(instance: Instance, key: str) -> Instance | None:
        scope: Scope | None = homes[instance]
        if any(service.service_key == key for service in instance.plugin.provides):
            scope = None if key in isolated[homes[instance]] else scope.parent
        while scope is not None:
            if (scope, key) in claims:
                return claims[scope, key]
            scope = None if key in isolated[scope] else scope.parent
        return None

    runs: set[Instance] = set()
    while True:
        more = {
            instance
            for instance in homes
            if instance not in runs
            and instance.state != "failed"
            and (instance.parent is None or instance.parent in runs)
            and all(giver(instance, service.service_key) in runs for service in instance.plugin.requires)
        }
        if not more:
            break
        runs |= more
    for instance in homes:
        wanted = "active" if instance in runs else "failed" if instance.state == "failed" else "pending"
        world.expect(instance.state == wanted, f"{instance.name} is {instance.state}, should be {wanted}")
        for key, provider in instance.bindings.items():
            nearest = giver(instance, key)
            right = nearest is provider or uses(nearest, instance)
            world.expect(right, f"{instance.name} has {key} from {provider.name}")
        for service in instance.plugin.optional if instance in runs else ():
            key = service.service_key
            provider = giver(instance, key)
            if provider in runs and key not in instance.bindings:
                world.expect(uses(provider, instance), f"{instance.name} does without {key}")
    named = {problem.instance for problem in root.problems()}
    cycles = {name for problem in root.problems() for name in problem.path}
    for instance in homes:
        if instance not in runs:
            world.expect(instance in named or instance.name in cycles, f"{instance.name} is no problem")


histories = given(
    shapes=st.lists(shapes, min_size=1, max_size=12),
    steps=steps,
    isolate=st.frozensets(st.sampled_from([f"key{number}" for number in range(KEYS)]), max_size=3),
)
patient = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def run_bounded(
    backend: str, shapes: list[Shape], steps: list[tuple[str, int, int]], isolate: frozenset[str]
) -> World:
    async def bounded() -> World:
        with anyio.fail_after(60):  # a graph that starts and stops for ever
            return await play(shapes, steps, isolate)

    return anyio.run(bounded, backend=backend)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(patient, max_examples=60)
@histories
def test_whatever_happens_nothing_runs_without_what_it_requires(
    backend: str, shapes: list[Shape], steps: list[tuple[str, int, int]], isolate: frozenset[str]
) -> None:
    assert run_bounded(backend, shapes, steps, isolate).complaints == []


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(patient, max_examples=3000)
@histories
def test_whatever_happens_in_many_histories(
    backend: str, shapes: list[Shape], steps: list[tuple[str, int, int]], isolate: frozenset[str]
) -> None:
    assert run_bounded(backend, shapes, steps, isolate).complaints == []
