"""How a check becomes a test, and how it is run without a test runner."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import pytest

from seam.exec_def.conformance._card import Card
from seam.exec_def.conformance._subject import Settings, Subject
from seam.exec_def.conformance._trial import Trial

Check = Callable[[Subject], Awaitable[None]]
"""A check as pytest collects it: its parameter is the fixture `exec_subject`."""

_DEFAULTS = Settings()
_VERDICTS = (Exception, pytest.fail.Exception, pytest.skip.Exception)
"""How a check ends that did not pass; a cancellation is none of them."""


def check(
    *needs: str, settings: Settings = _DEFAULTS, full: bool = False
) -> Callable[[Callable[[Trial], Awaitable[None]]], Check]:
    """Turn a function of a trial into a check.

    Args:
        needs: capabilities without which the check is left out.
        settings: how the executor is configured.
        full: the check belongs to the long tier.
    """

    def decorate(function: Callable[[Trial], Awaitable[None]]) -> Check:
        async def test(exec_subject: Subject) -> None:
            name, backend = function.__name__, _event_loop()
            try:
                await _attempt(function, exec_subject, needs, settings)
            except pytest.skip.Exception as lack:
                exec_subject.card.add(name, backend, "lacking", str(lack))
                raise
            except BaseException as error:
                exec_subject.card.add(name, backend, "broken", f"{type(error).__name__}: {error}"[:500])
                raise
            exec_subject.card.add(name, backend, "kept")

        test.__name__ = test.__qualname__ = function.__name__
        test.__doc__ = function.__doc__
        test.__module__ = function.__module__
        marked = pytest.mark.anyio(test)
        return pytest.mark.full(marked) if full else marked

    return decorate


def _event_loop() -> str:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return "trio"  # the only other one that anyio runs on
    return "asyncio"


async def _attempt(
    function: Callable[[Trial], Awaitable[None]], subject: Subject, needs: Iterable[str], settings: Settings
) -> None:
    for need in needs:
        if not getattr(subject.capabilities, need):
            pytest.skip(f"{subject.name} lacks {need}")
    found: list[BaseException] = []
    with tempfile.TemporaryDirectory(prefix="exec-kit-") as folder:
        async with subject.open(settings) as executor:
            try:
                await function(Trial(executor, Path(folder).resolve(), subject.capabilities))
            except _VERDICTS as error:
                found.append(error)  # raised below, where no task group makes a group of it
    if found:
        raise found[0]


async def examine(subject: Subject, checks: Iterable[Check]) -> Card:
    """Run checks in the current event loop, without a test runner, and return the subject's card."""
    for one in checks:
        try:
            await one(subject)
        except _VERDICTS:
            continue  # the card has it
    return subject.card
