"""The service."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from pydantic import Field

from seam.kernel import Service, Value
from seam.subprocess_def._confidential import ByteFilter, Confidential
from seam.subprocess_def._process import Process, TerminalProcess
from seam.subprocess_def._spec import SpawnSpec, TerminalSpec
from seam.subprocess_def._streams import StreamId


class SpawnLimits(Value):
    """What execve(2) of this world takes, in bytes."""

    string_bytes: int = Field(
        description="One argument or one `NAME=value`, without the closing NUL (Linux: 131071)."
    )
    total_bytes: int = Field(description="Arguments and environment together, with NULs and pointers.")


class SubprocessRuntime(Service, key="subprocess"):
    """Runs programs in one world. All paths are paths of that world.

    Closing the runtime ends every process that is not detached, and waits for it."""

    @property
    @abstractmethod
    def world_id(self) -> str:
        """Which world this is; equal for the `subprocess` and `fs` that share paths and processes."""

    @property
    @abstractmethod
    def platform(self) -> str:
        """The world's operating system as `sys.platform` there (`linux`, `darwin`)."""

    @property
    @abstractmethod
    def limits(self) -> SpawnLimits:
        """What one start can carry."""

    @property
    def environment(self) -> Mapping[str, str]:
        """The world's own environment, from which a caller's allow-list takes what it names; nothing is inherited by itself.

        A world that has none to tell answers with an empty mapping."""
        return {}

    @property
    def cwd(self) -> str:
        """Where a program of this world stands whose caller knows no better place: an absolute path."""
        return "/"

    @abstractmethod
    async def which(self, name: str, env: Mapping[str, str]) -> str | None:
        """The absolute path that `name` would run with PATH of `env`, or None. A path is checked and
        returned as it is.

        Without PATH in `env` nothing is found: the world's default path is not guessed. Relative and empty
        entries of PATH are skipped, so that no working directory ever decides what runs."""

    @abstractmethod
    async def spawn(
        self,
        spec: SpawnSpec,
        *,
        confidential: Confidential | None = None,
        filters: Mapping[StreamId, ByteFilter] | None = None,
    ) -> Process:
        """Start a program and return at once; the caller owns the handle.

        Args:
            spec: everything that is decided; nothing is filled in.
            confidential: secret values of this start.
            filters: what rewrites a piped or collected output stream before anything else sees it.

        Raises:
            TypeError: `spec` is not a SpawnSpec.
            SpawnFailed: nothing was started and nothing leaked; the subclass names the culprit.
            RuntimeClosed: the runtime is closing.
            NotSupported: the implementer lacks what the spec asks for, such as a detached lifetime.
            RecordUnusable: the record of a detached lifetime exists or cannot be written.
        """

    @abstractmethod
    async def spawn_terminal(
        self,
        spec: TerminalSpec,
        *,
        confidential: Confidential | None = None,
        terminal_filter: ByteFilter | None = None,
    ) -> TerminalProcess:
        """Start a program on a pseudo-terminal that is its controlling one; errors as `spawn`."""

    @abstractmethod
    async def attach(self, record: str) -> Process:
        """Find a detached process again by the record that `spawn` wrote; identity is checked against pid
        reuse.

        A process that has ended meanwhile is found with its exit.

        Raises:
            RecordUnusable: no such record, not a record, or one of another world.
        """
