"""Processes on a pseudo-terminal of their own (pty(7))."""

from __future__ import annotations

import contextlib
import errno
import os
import termios
from collections.abc import Awaitable, Callable
from datetime import datetime

from anyio.abc import ByteStream

from seam.subprocess_def import ByteFilter, Confidential, TerminalProcess, TerminalSpec
from seam.subprocess_local._ends import Manner
from seam.subprocess_local._failures import too_many_descriptors
from seam.subprocess_local._outcome import signal_number
from seam.subprocess_local._pipes import TerminalStream
from seam.subprocess_local._process import LocalProcess
from seam.subprocess_local._wiring import Wiring, lift, wire_further


class Terminal:
    """The host's side of a pseudo-terminal."""

    def __init__(self, descriptor: int, byte_filter: ByteFilter | None) -> None:
        self._descriptor = descriptor
        self.stream = TerminalStream(os.dup(descriptor), byte_filter)

    def resize(self, columns: int, rows: int) -> None:
        """Set the window size; the kernel sends SIGWINCH to the foreground group."""
        if self._descriptor >= 0:
            termios.tcsetwinsize(self._descriptor, (rows, columns))

    def foreground(self) -> int | None:
        """The process group in front; None when there is none any more."""
        if self._descriptor < 0:
            return None
        try:
            group = os.tcgetpgrp(self._descriptor)
        except OSError:
            return None  # ENOTTY, EIO: nobody has the other side any more
        return group if group > 1 else None

    def close(self) -> None:
        """Hang up. Idempotent."""
        self.stream.close()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def wire_terminal(
    spec: TerminalSpec, confidential: Confidential | None, byte_filter: ByteFilter | None
) -> tuple[Wiring, Terminal]:
    """Open a terminal of the spec's size, and what else the spec asks for.

    Raises:
        TooManyDescriptors: the process or the system has no more, or no more terminals.
        InvalidDescriptor: see `wire`.
    """
    wiring = Wiring()
    ours = -1
    try:
        ours, theirs = os.openpty()
        ours = lift(ours)
        theirs = wiring.give(lift(theirs))
        termios.tcsetwinsize(theirs, (spec.rows, spec.columns))
        wiring.stdio = (theirs, theirs, theirs)
        wire_further(wiring, spec.descriptors, confidential, stored=False)
        terminal = Terminal(ours, byte_filter)
    except BaseException as problem:
        wiring.close_theirs()
        wiring.close_ours()
        if ours >= 0:
            os.close(ours)
        if isinstance(problem, OSError) and problem.errno in (errno.EMFILE, errno.ENFILE, errno.ENOSPC):
            raise too_many_descriptors(problem.errno) from None
        raise
    return wiring, terminal


class LocalTerminalProcess(LocalProcess, TerminalProcess):
    """A local process that leads the session of a terminal."""

    def __init__(
        self,
        manner: Manner,
        started_at: datetime,
        start_soon: Callable[[Callable[[], Awaitable[None]]], None],
        terminal: Terminal,
    ) -> None:
        super().__init__(manner, started_at, start_soon)
        self._terminal = terminal

    @property
    def terminal(self) -> ByteStream:
        return self._terminal.stream

    async def resize(self, columns: int, rows: int) -> None:
        if columns <= 0 or rows <= 0:
            raise ValueError(f"a terminal has at least one column and one row, not {columns} and {rows}")
        self._terminal.resize(columns, rows)

    async def foreground(self) -> int | None:
        return self._terminal.foreground()

    async def signal(self, name: str) -> None:
        number = signal_number(name)
        group = self._terminal.foreground()
        if group is None or group == self.pid or group == os.getpgrp():
            await super().signal(name)  # through the supervisor, which knows that the leader is alive
            return
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.killpg(group, number)

    async def aclose(self) -> None:
        await super().aclose()
        self._terminal.close()
