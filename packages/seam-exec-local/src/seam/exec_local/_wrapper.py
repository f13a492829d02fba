"""What may go around the shell that exec-local starts: nothing, or a sandbox's runner.

An executor that confines builds on this package (`extends`) and brings a `Wrapper` of its own; everything else about
running a command stays the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from seam.exec_def import ExecRequest, ExecSpec, Isolation, SandboxFacts, Survivor
from seam.sandbox_def import Mode
from seam.subprocess_def import Confidential, Process, ProcessExit, SpawnSpec


@dataclass(frozen=True)
class Launch:
    """What is handed to the runtime: the spec of the process, and the secret values of this start."""

    spawn: SpawnSpec
    confidential: Confidential | None


@dataclass(frozen=True)
class Ending:
    """How the command itself ended, which is not always how the process ended that was started."""

    exit_code: int | None
    signal: str | None
    unknown: str | None
    sandbox: SandboxFacts
    survivors: tuple[Survivor, ...] = ()
    """What the wrapping itself ended when the command was over, and the runtime could not see."""


class Wrapped(ABC):
    """One command, wrapped and ready to be started once."""

    instant = False
    """Whether `settle` never suspends, so that it needs no protection from cancellation."""

    @property
    @abstractmethod
    def launch(self) -> Launch:
        """What to start."""

    async def confirm(self, process: Process) -> None:  # noqa: B027 - most wrappings have nothing to wait for
        """Wait until the command itself is known to have started; called once, right after the spawn.

        Raises:
            SeamError: what was spawned did not start the command. The process is then ended, and `discard` called.
        """

    @abstractmethod
    def sandbox(self) -> SandboxFacts:
        """What is known of the confinement while the command runs."""

    @abstractmethod
    async def settle(self, process: Process, end: ProcessExit, output: bytes) -> Ending:
        """Read how the command ended and clean up; called once, after everything it started is gone.

        Args:
            process: the process, not disposed yet.
            end: how it ended.
            output: the kept end of what the command wrote to standard error (or to the merged stream), masked.
        """

    @abstractmethod
    async def discard(self) -> None:
        """Clean up where the command was not started; called instead of `settle`, after what was spawned is gone."""


class Wrapper(ABC):
    """What goes around every shell of an executor."""

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """The executor's name: `local`, `sandbox`, ..."""

    @property
    @abstractmethod
    def confines(self) -> bool:
        """Whether commands are confined."""

    @property
    @abstractmethod
    def mode(self) -> Mode:
        """The sandbox mode of a request without wishes."""

    @abstractmethod
    def isolate(self, request: ExecRequest, *, workspace: str, workdir: str) -> Isolation:
        """Decide the confinement of a request, without any effect outside.

        Raises:
            InvalidRequest, SandboxUnavailable: as `ShellExecutor.resolve`; errors of seam-sandbox-def pass as they are.
        """

    @abstractmethod
    async def wrap(self, spec: ExecSpec, plain: Launch) -> Wrapped:
        """Put the runner around a start. `plain` is what would be started without it.

        Raises:
            SandboxUnavailable: nothing that can confine; the bare command is never the answer.
        """


class Bare(Wrapper):
    """Nothing around the shell."""

    @property
    def mechanism(self) -> str:
        """`local`."""
        return "local"

    @property
    def confines(self) -> bool:
        """Never."""
        return False

    @property
    def mode(self) -> Mode:
        """`full-access`."""
        return "full-access"

    def isolate(self, request: ExecRequest, *, workspace: str, workdir: str) -> Isolation:
        """No confinement, so every wish for a wider mode is satisfied already."""
        return _SATISFIED if request.widening is not None else _NONE

    async def wrap(self, spec: ExecSpec, plain: Launch) -> Wrapped:
        """The start as it is."""
        return _BareStart(plain, _FACTS_SATISFIED if spec.isolation.already_satisfied else _FACTS)


class _BareStart(Wrapped):
    instant = True

    def __init__(self, launch: Launch, facts: SandboxFacts) -> None:
        self._launch = launch
        self._facts = facts

    @property
    def launch(self) -> Launch:
        return self._launch

    def sandbox(self) -> SandboxFacts:
        return self._facts

    async def settle(self, process: Process, end: ProcessExit, output: bytes) -> Ending:
        return Ending(end.exit_code, end.signal, end.unknown, self._facts)

    async def discard(self) -> None:
        """Nothing was made."""


_NONE = Isolation(mode="full-access")
_SATISFIED = Isolation(mode="full-access", already_satisfied=True)
_FACTS = SandboxFacts(mode="full-access")
_FACTS_SATISFIED = SandboxFacts(mode="full-access", widening_satisfied=True)
