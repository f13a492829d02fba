"""The two services: who decides, and who enforces."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from seam.kernel import Service
from seam.sandbox_def._confined import Confined, LaunchStatus, Released
from seam.sandbox_def._denials import Denial
from seam.sandbox_def._policy import Policy
from seam.sandbox_def._report import PolicyReport, ProbeResult, RuntimeReport
from seam.sandbox_def._request import PolicyRequest


class SandboxPolicy(Service, key="sandbox_policy"):
    """Decides what one call may do. Starts nothing and changes nothing."""

    @abstractmethod
    def resolve(self, request: PolicyRequest) -> Policy:
        """Make the policy of one call. The mode is that of the grant, else of the session, else of the
        deployment; an approved widening applies to this call alone; a parent only narrows.

        Raises:
            InvalidPolicy: a root is missing, no folder, or `/`; lists contradict one another.
            ModeForbidden: the session asks for more than the deployment permits.
            WideningRefused: the widening is not strictly wider, or wider than the deployment permits.
            LinkRefused: a protected or hidden path is a link.
        """

    @abstractmethod
    def report(self, workspace: str | None = None) -> PolicyReport:
        """The lists with their reasons, as they hold for `workspace`; without one, entries that are relative to it are
        left out.

        Raises:
            InvalidPolicy: as `resolve`.
        """


class SandboxRuntime(Service, key="sandbox_runtime"):
    """Enforces a policy on a command by the means of the operating system."""

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """Its name in a deployment (`bwrap`)."""

    @abstractmethod
    async def probe(self) -> ProbeResult:
        """Try, with a real confined process that tries to break out, what works here. Done once per boot, see
        `Probing`; other calls give what is known. Never raises for what it finds."""

    @abstractmethod
    async def confine(
        self, argv: Sequence[str], policy: Policy, *, cwd: str, env: Mapping[str, str]
    ) -> Confined:
        """Prepare `argv` to be started under `policy`, in `cwd`, with exactly the environment `env` (plus a
        private `TMPDIR`, and the proxy's variables where the network is `allow-list`). Starts nothing.

        Raises:
            SandboxUnavailable: nothing here can confine, or only with gaps that the policy forbids.
            LinkRefused, WorkspaceChanged: a path is not what the policy was made for.
            ValueError: the policy does not confine, `argv` is empty, or text contains NUL.
            OSError: this process has no descriptors left; nothing is wrong with the sandbox.
        """

    @abstractmethod
    def read_status(self, confined: Confined, status: bytes) -> LaunchStatus:
        """What `status`, everything that was read from the status descriptor, says. Bytes that make no sense
        mean not started; never raises."""

    @abstractmethod
    def denials(self, confined: Confined) -> tuple[Denial, ...]:
        """Refusals that the runtime itself saw so far (the proxy's); all of them are `confirmed`."""

    @abstractmethod
    async def release(self, confined: Confined) -> Released:
        """Remove what the runner made, after everything it started is gone. Idempotent; shielded from
        cancellation. What was left by a crash is removed at the next start of the runtime."""

    @abstractmethod
    async def report(self) -> RuntimeReport:
        """Probe now, whatever is known already, and tell for each mode what would be enforced. For
        `seam doctor --sandbox`."""
