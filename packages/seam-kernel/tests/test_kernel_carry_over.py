"""Random generations that carry instances over, in which jobs hold some: who lives on, and in which order the rest ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seam.kernel import Context, Instance, Kernel, NoConfig, Plugin, Release, Scope, Service, plugin

SIZE = 6
KEYS: list[type[Service]] = [
    type(f"Carried{number}", (Service,), {}, key=f"carried{number}") for number in range(SIZE)
]


@dataclass(frozen=True)
class Story:
    """A graph (each number requires some lower ones), what each new generation rebuilds, who is held, what then ends."""

    requires: tuple[frozenset[int], ...]
    rebuilt: tuple[frozenset[int], ...]
    held: frozenset[tuple[int, int]]
    ends: tuple[tuple[str, int, int], ...]


numbers = st.integers(0, SIZE - 1)
generations = st.integers(0, 2)
stories = st.builds(
    Story,
    requires=st.tuples(
        *(
            st.frozensets(st.integers(0, n - 1), max_size=2) if n else st.just(frozenset[int]())
            for n in range(SIZE)
        )
    ),
    rebuilt=st.tuples(st.frozensets(numbers), st.frozensets(numbers)),
    held=st.frozensets(st.tuples(generations, numbers), max_size=3),
    ends=st.lists(st.tuples(st.sampled_from(["close", "release"]), generations, numbers), max_size=10).map(
        tuple
    ),
)


class Theatre:
    """Plays one story and knows who must be alive."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.alive: list[tuple[int, int]] = []
        """(number, serial) of what runs, in the order of starts."""
        self.scopes: list[Scope] = []
        self.cast: list[list[Instance]] = []
        self.holds: dict[tuple[int, int], list[Release]] = {}

    def actor(self, number: int, serial: int) -> Plugin[NoConfig]:
        needs = self.story.requires[number]

        @plugin(name=f"n{number}", requires=[KEYS[need] for need in needs], provides=[KEYS[number]])
        async def play(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
            ctx.provide(KEYS[number], KEYS[number]())
            self.alive.append((number, serial))
            yield
            self.alive.remove((number, serial))

        return play

    async def open(self, root: Scope) -> None:
        """Three generations; each carries over what it does not rebuild and whose neighbours it does not rebuild."""
        for serial, fresh in enumerate([frozenset(range(SIZE)), *self.story.rebuilt]):
            scope = root.child(f"generation {serial}")
            members: list[Instance] = []
            new: set[int] = set()
            for number in range(SIZE):
                if number in fresh or self.story.requires[number] & new:
                    new.add(number)
                    members.append(scope.load(self.actor(number, serial)))
                else:
                    members.append(self.cast[-1][number])
                    scope.adopt(members[-1])
            await scope.settle()
            assert scope.problems() == ()
            scope.seal()
            self.scopes.append(scope)
            self.cast.append(members)
        for serial, number in sorted(self.story.held):
            release = self.cast[serial][number].hold(f"job {serial}.{number}")
            self.holds.setdefault((serial, number), []).append(release)

    def needed(self) -> set[Instance]:
        """Listed in an open generation or held, and whatever these use."""
        found: set[Instance] = set()
        roots = [
            each
            for scope, members in zip(self.scopes, self.cast, strict=True)
            if not scope.closed
            for each in members
        ]
        roots += [self.cast[serial][number] for serial, number in self.holds]
        while roots:
            instance = roots.pop()
            if instance not in found:
                found.add(instance)
                roots += instance.bindings.values()
        return found

    async def check(self) -> None:
        everybody = {instance for members in self.cast for instance in members}
        needed = self.needed()
        for instance in everybody - needed:
            await instance.wait_stopped()
        assert {instance for instance in everybody if instance.state == "active"} == needed
        assert len(self.alive) == len(needed)

    async def play(self) -> None:
        async with Kernel() as kernel:
            await self.open(kernel.root)
            await self.check()
            for action, serial, number in self.story.ends:
                if action == "close":
                    assert await self.scopes[serial].aclose() == ()
                else:
                    for release in self.holds.pop((serial, number), []):
                        release()
                await self.check()
        assert self.alive == []
        assert kernel.faults == ()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=stories)
def test_an_instance_lives_exactly_as_long_as_somebody_needs_it(backend: str, story: Story) -> None:
    async def bounded() -> None:
        with anyio.fail_after(60):
            await Theatre(story).play()

    anyio.run(bounded, backend=backend)
