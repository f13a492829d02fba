"""Handles of a running process and of its streams."""

from __future__ import annotations

from abc import ABC, abstractmethod

from anyio.abc import AsyncResource, ByteReceiveStream, ByteSendStream, ByteStream

from seam.subprocess_def._exit import Containment, ProcessExit
from seam.subprocess_def._streams import StreamId
from seam.subprocess_def._window import StreamSummary, Window


class CollectedStream(ABC):
    """A stream that the runtime reads continuously, whether or not anybody looks (offsets: bytes, 0-based,
    absolute).

    Any number of readers follow it at their own offsets without stealing from each other, also after its
    end and until the process is disposed."""

    @property
    @abstractmethod
    def total(self) -> int:
        """Bytes that the stream has had so far, after its filter."""

    @property
    @abstractmethod
    def last_output_at(self) -> float | None:
        """When bytes last arrived, on `time.monotonic()` of the host; None: never."""

    @property
    @abstractmethod
    def ended(self) -> bool:
        """Nothing will be added any more."""

    @abstractmethod
    def head(self) -> bytes:
        """The window at the start: everything while the stream fits into memory."""

    @abstractmethod
    def tail(self) -> bytes:
        """The window at the end, disjoint from the head; empty while the stream fits into memory."""

    @abstractmethod
    def summary(self) -> StreamSummary:
        """Totals, ranges kept and lost, and the file, as of now."""

    @abstractmethod
    async def read(self, offset: int, max_bytes: int) -> Window:
        """Up to `max_bytes` from `offset` on, from memory or from the file; does not wait for more to come.

        Where bytes are gone, the window starts at the next byte that exists and names what was `lost`.

        Raises:
            ValueError: offset or max_bytes is negative, or max_bytes is 0.
        """

    @abstractmethod
    async def wait_beyond(self, offset: int) -> bool:
        """Wait until the stream has more than `offset` bytes (True) or has ended without (False)."""


class Process(AsyncResource):
    """A process and its tree. The handle owns both: leaving `async with` ends whatever is still alive, and
    waits.

    Cancelling a waiter only ends that wait. Cancelling the task that holds the handle in `async with` ends
    the tree.
    """

    @property
    @abstractmethod
    def pid(self) -> int:
        """The leader's process id in its world; 0 where it is not known (`ProcessExit.unknown` says why)."""

    @property
    @abstractmethod
    def containment(self) -> Containment:
        """How well this tree is held together."""

    @property
    @abstractmethod
    def exit(self) -> ProcessExit | None:
        """The end, once it is settled; None before."""

    @property
    @abstractmethod
    def leader_exited(self) -> bool:
        """The leader is gone (a zombie counts as gone), although streams may still be drained."""

    @abstractmethod
    def sink(self, stream: StreamId) -> ByteSendStream:
        """The writing end of stdin or a descriptor that is a `Pipe`; closing it is the end of input.

        Its `send` raises `anyio.BrokenResourceError` when the program reads no more.

        Raises:
            StreamUnavailable: the spec did not ask for a pipe there.
        """

    @abstractmethod
    def source(self, stream: StreamId) -> ByteReceiveStream:
        """The raw reading end of stdout, stderr or an `Outlet` that is a `Pipe`; filters apply.

        Raises:
            StreamUnavailable: the spec did not ask for a pipe there.
        """

    @abstractmethod
    def collected(self, stream: StreamId) -> CollectedStream:
        """The collected stdout, stderr or `Outlet`, or a stream that is a `File`.

        Raises:
            StreamUnavailable: the spec did not ask for collecting there.
        """

    @abstractmethod
    async def wait(self) -> ProcessExit:
        """Wait until the leader has exited, streams are drained (or the drain time is over) and survivors
        are settled.

        Any number of tasks may wait, any number of times."""

    @abstractmethod
    async def wait_leader(self) -> None:
        """Wait until the leader has exited, without draining."""

    @abstractmethod
    async def terminate(self, *, grace: float | None = None) -> ProcessExit:
        """End the whole tree: SIGTERM and SIGCONT, `grace` seconds (None: the spec's), SIGKILL; then as
        `wait`.

        Idempotent, safe when the process has just exited, and completed even when the caller is cancelled."""

    @abstractmethod
    async def signal(self, name: str) -> None:
        """Send a signal by name (`SIGINT`) to the foreground of the tree: the leader's group, or a
        terminal's.

        A process that has exited is no error.

        Raises:
            UnknownSignal: the world has no such signal.
        """

    @abstractmethod
    async def aclose(self) -> None:
        """Dispose: end the tree unless it is detached, wait for it, close all descriptors.

        Windows stay readable, and so do spill files, which belong to the runtime."""


class TerminalProcess(Process):
    """A process on a pseudo-terminal."""

    @property
    @abstractmethod
    def terminal(self) -> ByteStream:
        """The terminal's other side: what the program prints, and what is typed."""

    @abstractmethod
    async def resize(self, columns: int, rows: int) -> None:
        """Set the window size; the foreground group receives SIGWINCH."""

    @abstractmethod
    async def foreground(self) -> int | None:
        """The process group in front (tcgetpgrp(3)); None when the terminal has gone."""
