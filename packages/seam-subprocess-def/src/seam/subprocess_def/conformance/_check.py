"""Turning a function of a trial into a check that pytest collects, and that runs without pytest too."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import anyio
import pytest
import sniffio

from seam.subprocess_def.conformance._card import Card, Line
from seam.subprocess_def.conformance._subject import Subject
from seam.subprocess_def.conformance._trial import Trial

Body = Callable[[Trial], Awaitable[None]]
Check = Callable[[Subject], Awaitable[None]]
"""What pytest calls; the parameter is the fixture `subprocess_subject`."""

_SECONDS = 60.0
_FULL_SECONDS = 900.0


def check(*needs: str, full: bool = False) -> Callable[[Body], Check]:
    """Declare a check.

    Args:
        needs: flags of `Capabilities`, without which it is left out.
        full: belongs to the long tier (marker `full`).
    """

    def declare(body: Body) -> Check:
        name = body.__name__

        async def judge(subprocess_subject: Subject) -> None:
            subject, loop = subprocess_subject, sniffio.current_async_library()

            def note(finding: str, why: str = "") -> None:
                subject.card.note(
                    Line.model_validate({"check": name, "event_loop": loop, "finding": finding, "why": why})
                )

            if name in subject.overrides:
                note("overridden", subject.overrides[name])
                pytest.skip(f"overridden by {subject.name}: {subject.overrides[name]}")
            missing = [need for need in needs if not getattr(subject.capabilities, need)]
            if missing:
                note("lacking", ", ".join(missing))
                pytest.skip(f"{subject.name} lacks {', '.join(missing)}")
            try:
                await _run(body, subject, _FULL_SECONDS if full else _SECONDS)
            except BaseException as problem:
                note("broken", f"{type(problem).__name__}: {problem}"[:400])
                raise
            note("kept")

        judge.__name__ = judge.__qualname__ = name
        judge.__doc__ = body.__doc__
        judge.__module__ = body.__module__
        marked = pytest.mark.anyio(judge)
        return pytest.mark.timeout(_FULL_SECONDS)(pytest.mark.full(marked)) if full else marked

    return declare


async def _run(body: Body, subject: Subject, seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="subprocess-kit-") as folder:
        async with subject.open() as runtime:
            with anyio.fail_after(seconds):
                await body(Trial(runtime, Path(folder).resolve(), subject))


async def examine(subject: Subject, checks: Iterable[Check]) -> Card:
    """Run checks one after the other in the current event loop and return the subject's card."""
    for one in checks:
        try:
            await one(subject)
        except (Exception, pytest.skip.Exception, pytest.fail.Exception):
            continue  # the card says it
    return subject.card
