"""The service behind the key `exec`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable

from seam.exec_def._abort import Abort
from seam.exec_def._errors import DetachedUnsupported
from seam.exec_def._facts import ExecutorFacts
from seam.exec_def._process import ExecProcess, Progress
from seam.exec_def._request import ExecRequest
from seam.exec_def._result import ExecResult
from seam.exec_def._spec import ExecSpec
from seam.kernel import Service

HandOver = Callable[[ExecProcess], Awaitable[bool]]
"""Offered the live process when a limit (timeout or idle) has passed, before it would be ended. `True` means taken: the
process goes on, and its new owner ends it. If it raises or does not answer within the grace, the process is ended as usual."""

Settled = Callable[[ExecResult], None]
"""Told the result exactly once, also where cancellation keeps `run` from returning it. It must not block; if it raises,
the result stands and the error is logged."""


class ShellExecutor(Service, key="exec"):
    """Runs shell commands. Every call is a shell of its own; no state is kept from one to the next."""

    @property
    @abstractmethod
    def facts(self) -> ExecutorFacts:
        """What this executor is."""

    @abstractmethod
    def resolve(self, request: ExecRequest) -> ExecSpec:
        """Decide everything that execution needs, without any effect outside.

        Raises:
            InvalidRequest: the request cannot work; the class says why.
            SandboxUnavailable: the confinement that the policy asks for cannot be had.
        """

    @abstractmethod
    async def run(
        self,
        spec: ExecSpec,
        *,
        abort: Abort | None = None,
        hand_over: HandOver | None = None,
        progress: Progress | None = None,
        settled: Settled | None = None,
    ) -> ExecResult:
        """Run in the foreground, enforcing the limits; the result is there by `spec.limits.return_by`.

        Non-zero exits, time limits and aborts are results. Cancelling the awaiting task ends the command, waits
        until it is gone and raises; `settled` is told what it left.

        Raises:
            TypeError: `spec` is a request, or anything else that is not a spec.
            InvalidRequest: the world refuses what `resolve` could not see, such as a working directory that is not there.
            ExecutorUnavailable: nothing was started.
        """

    @abstractmethod
    async def start(self, spec: ExecSpec) -> ExecProcess:
        """Run in the background: return as soon as the command was started, enforce no time limit.

        Raises:
            TypeError, InvalidRequest, ExecutorUnavailable: as for `run`.
        """

    async def start_detached(self, spec: ExecSpec, record: str) -> ExecProcess:
        """Run in the background and outlive this process: found again with `attach`, by what is written to `record`.

        Its output goes straight to a file beside the record, so nothing can be masked in it: a spec with secrets is refused.
        An executor that cannot do this says so; closing the handle leaves the command running.

        Args:
            spec: as for `start`.
            record: absolute path of the world for the record; it must not exist.

        Raises:
            DetachedUnsupported: this executor, or this spec, cannot.
            TypeError, InvalidRequest, ExecutorUnavailable: as for `run`.
        """
        reason = f"the executor {self.facts.executor!r} ends its commands with its host"
        raise DetachedUnsupported(f"{reason}; start it as an ordinary job", reason=reason)

    async def attach(self, spec: ExecSpec, record: str) -> ExecProcess | None:
        """Find a detached command again; `None` where the record is gone or is of something else. Its identity is checked."""
        return None
