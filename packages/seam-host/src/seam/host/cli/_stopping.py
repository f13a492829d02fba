"""A host whose stop is looked at: what it left behind decides the exit code."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

import anyio

from seam.host._host import Host
from seam.host._outcomes import StopReport
from seam.host.cli._exits import Exit
from seam.host.cli._screen import err


@dataclass
class Stop:
    """How a host stopped; known when its block is left."""

    report: StopReport = field(default_factory=StopReport)


@asynccontextmanager
async def stopped(opening: AbstractAsyncContextManager[Host]) -> AsyncGenerator[tuple[Host, Stop]]:
    """Run a host, and keep what its stop reports; also when the block is cancelled."""
    stop = Stop()
    async with opening as host:
        try:
            yield host, stop
        finally:
            with anyio.CancelScope(shield=True):
                stop.report = await host.stop()
            if stop.report.errors or stop.report.abandoned:
                say_stop(stop.report)


def say_stop(report: StopReport) -> None:
    """Print what stopping found."""
    for text in (*report.errors, *report.abandoned):
        err().print(f"seam: while stopping: {text}", style="red")


def report_stop(report: StopReport) -> int:
    """The exit code that a stop asks for."""
    return Exit.LEFT_BEHIND if report.errors or report.abandoned else Exit.DONE
