"""Signals end the work, not the process: what was started is ended and waited for, then the command exits."""

from __future__ import annotations

import signal
import sys
from collections.abc import Awaitable, Callable

import anyio

STILL = "still ending what was started; it is waited for (kill -9 ends this command, and leaves that to the system)"


class Interrupt:
    """How a command was asked to end."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None

    @property
    def code(self) -> int:
        """The exit code for a command that a signal ended."""
        return 0 if self.signal is None else 128 + self.signal


def run_interruptible(main: Callable[[], Awaitable[int]]) -> tuple[int, Interrupt]:
    """Run `main` until it ends or SIGINT or SIGTERM asks for an end; then it is cancelled, and waited for.

    Returns:
        Its exit code (that of the signal where it was cancelled), and how it was asked to end.
    """
    interrupt = Interrupt()
    code = anyio.run(_run, main, interrupt)
    return code, interrupt


async def _run(main: Callable[[], Awaitable[int]], interrupt: Interrupt) -> int:
    code, failure = 0, None
    work = anyio.CancelScope()
    async with anyio.create_task_group() as group:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:

            async def watch() -> None:
                async for number in received:
                    if interrupt.signal is not None:
                        sys.stderr.write(f"\nseam: {STILL}\n")
                    interrupt.signal = interrupt.signal or signal.Signals(number)
                    work.cancel()

            group.start_soon(watch)
            with work:
                try:
                    code = await main()
                except Exception as error:  # raised again below, where no task group wraps it
                    failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return interrupt.code if work.cancelled_caught else code
