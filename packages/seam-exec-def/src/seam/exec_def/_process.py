"""A command that runs in the background."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType

from seam.exec_def._confinement import SandboxFacts
from seam.exec_def._output import OutputChunk, OutputSlice, StreamName
from seam.exec_def._result import ExecResult
from seam.exec_def._spec import ExecSpec

Progress = Callable[[OutputChunk], None]
"""Called in the event loop with each piece of output. It must not block; if it raises, that goes into `hook_failures`
and it is not called again."""


class ExecProcess(ABC):
    """A live command and, afterwards, its record. Its executor ends it at the latest when it is disposed.

    Output is read continuously whether or not anybody asks for it, so the command never waits for a reader.
    No time limit binds it: who started it decides when to end it.
    """

    @property
    @abstractmethod
    def spec(self) -> ExecSpec:
        """What is being run."""

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """The shell's process id in its world; `None` where the world has none to tell."""

    @property
    @abstractmethod
    def sandbox(self) -> SandboxFacts:
        """The confinement under which it runs, with the denials that are known so far; at its end that of the result."""

    @property
    @abstractmethod
    def result(self) -> ExecResult | None:
        """What became of it; `None` while it runs."""

    @abstractmethod
    async def wait(self) -> ExecResult:
        """Return the result as soon as there is one. Cancelling the wait leaves the command alone; many may wait."""

    @abstractmethod
    async def terminate(self, *, reason: str = "ended by its owner") -> ExecResult:
        """End the whole tree (polite signal, grace, SIGKILL) and wait until it is gone.

        Idempotent; never raises if it is over already. A command that was still running is recorded as aborted, with
        `reason`, ended by its owner.
        """

    @abstractmethod
    async def read(self, stream: StreamName = "stdout", *, offset: int = 0, limit: int) -> OutputSlice:
        """Return at most `limit` bytes from absolute `offset`, without waiting for more. Readers do not take bytes from one another.

        Raises:
            ValueError: `offset` is negative, `limit` is not positive, or the spec merges the streams and `stderr` is asked for.
        """

    @abstractmethod
    async def wait_beyond(self, offset: int, stream: StreamName = "stdout") -> bool:
        """Wait until the stream has more than `offset` bytes (`True`) or has ended without (`False`).

        Raises:
            ValueError: as for `read`.
        """

    @abstractmethod
    def subscribe(self, progress: Progress) -> Callable[[], None]:
        """Call `progress` with each piece of output from now on; returns how to stop that."""

    @abstractmethod
    async def aclose(self) -> None:
        """End what still runs, wait until it is gone, and let go of descriptors. What is in memory and in spill files stays readable."""

    async def __aenter__(self) -> ExecProcess:
        """Own the process for a block."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it with the block."""
        await self.aclose()
