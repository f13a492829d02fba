"""What a plugin declares, and its configuration."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

import pytest
from pydantic import BaseModel, ConfigDict, Field

from seam.kernel import (
    Context,
    InvalidConfig,
    InvalidDeclaration,
    Kernel,
    NoConfig,
    Observe,
    Service,
    plugin,
)

pytestmark = pytest.mark.anyio


class Alpha(Service, key="alpha"):
    """A service."""


class OtherAlpha(Service, key="alpha"):
    """Another class under the same key."""


class Retry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    count: int = Field(default=3, ge=0)


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    path: str
    retry: Retry = Retry()


@plugin(requires=[Alpha], config=Settings)
async def configured(ctx: Context, config: Settings) -> AsyncIterator[None]:
    """Says what it is.

    And more.
    """
    yield


def test_a_plugin_is_a_value_that_can_be_read_without_running_it() -> None:
    assert configured.name == "configured"
    assert configured.requires == (Alpha,)
    assert configured.optional == ()
    assert configured.provides == ()
    assert configured.config is Settings
    assert configured.module == __name__
    assert configured.doc.startswith("Says what it is.")


def test_configuration_comes_as_a_mapping_or_as_an_instance() -> None:
    settings = Settings(path="a")
    assert configured.configure(settings) is settings
    assert configured.configure({"path": "b", "retry": {"count": 1}}) == Settings(
        path="b", retry=Retry(count=1)
    )


def test_every_problem_of_a_configuration_is_listed_without_its_value() -> None:
    with pytest.raises(InvalidConfig) as caught:
        configured.configure({"retry": {"count": -1}, "password": "hunter2"})
    problems = cast("list[tuple[str, str]]", caught.value.facts["problems"])
    assert [location for location, _ in problems] == ["path", "retry.count", "password"]
    assert "configured" in str(caught.value)
    assert "hunter2" not in str(caught.value) + repr(caught.value.facts)
    assert caught.value.__suppress_context__


def test_an_instance_of_another_model_is_refused() -> None:
    with pytest.raises(InvalidConfig) as caught:
        configured.configure(cast("Settings", Retry()))
    assert "(whole)" in str(caught.value)


def test_no_config_takes_no_option() -> None:
    @plugin()
    async def bare(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield

    assert bare.configure() == NoConfig()
    with pytest.raises(InvalidConfig):
        bare.configure({"anything": 1})


def test_a_function_that_does_not_yield_is_no_plugin() -> None:
    async def coroutine(ctx: Context, config: NoConfig) -> None: ...

    with pytest.raises(InvalidDeclaration, match="coroutine is not an async generator"):
        plugin()(coroutine)  # pyright: ignore[reportArgumentType]  # that is the point


@pytest.mark.parametrize("side", ["requires", "provides"])
def test_one_key_is_declared_once(side: str) -> None:
    async def function(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield

    lists: dict[str, list[type[Service]]] = {side: [Alpha, OtherAlpha]}
    with pytest.raises(InvalidDeclaration, match="'alpha' twice"):
        plugin(requires=lists.get("requires", ()), provides=lists.get("provides", ()))(function)


def test_required_and_optional_do_not_overlap() -> None:
    async def function(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield

    with pytest.raises(InvalidDeclaration, match="twice"):
        plugin(requires=[Alpha], optional=[Alpha])(function)


def test_only_services_with_a_key_are_declared() -> None:
    async def function(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        yield

    with pytest.raises(InvalidDeclaration, match="not a service"):
        plugin(requires=[Service])(function)


def test_service_keys_are_declared_once_and_inherited() -> None:
    class Concrete(Alpha):
        pass

    assert Concrete.service_key == "alpha"
    with pytest.raises(InvalidDeclaration, match="inherits 'alpha'"):
        type("Twice", (Alpha,), {}, key="beta")
    with pytest.raises(InvalidDeclaration, match="has no key"):
        type("Without", (Service,), {})
    with pytest.raises(InvalidDeclaration, match="lower-case"):
        type("Bad", (Service,), {}, key="No-Good")


@pytest.mark.parametrize("name", ["", "Upper", "a..b", "a b", "a.", "1a"])
def test_event_names_are_lower_case_identifiers(name: str) -> None:
    with pytest.raises(InvalidDeclaration):
        Observe[int](name)


def test_events_are_told_apart_by_identity() -> None:
    assert Observe[int]("a.b") != Observe[int]("a.b")


@pytest.mark.parametrize(
    "limits", [{"grace": 0}, {"grace": float("inf")}, {"abandon_after": -1.0}, {"faults_kept": 0}], ids=str
)
def test_limits_of_a_kernel_are_validated(limits: dict[str, float]) -> None:
    with pytest.raises(InvalidConfig, match=next(iter(limits))):
        Kernel(**limits)  # pyright: ignore[reportArgumentType]  # one limit at a time


async def test_an_invalid_configuration_lists_nothing() -> None:
    async with Kernel() as kernel:
        with pytest.raises(InvalidConfig):
            kernel.root.load(configured, {})
        assert kernel.root.instances == ()
