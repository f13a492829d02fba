"""The Landlock runtime."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping, Sequence

import anyio
from anyio.abc import TaskGroup

from seam.sandbox_def import (
    Circumstances,
    Confined,
    Denial,
    Enforcement,
    Finding,
    LaunchStatus,
    Policy,
    ProbeResult,
    Probing,
    Reason,
    Released,
    RuntimeReport,
    SandboxRuntime,
    SandboxUnavailable,
    check_arguments,
    mode_reports,
    refused_gaps,
    verdict_folder,
)
from seam.sandbox_landlock import _carve as carve
from seam.sandbox_landlock._abi import landlock_abi
from seam.sandbox_landlock._config import LandlockConfig
from seam.sandbox_landlock._gaps import landlock_gaps
from seam.sandbox_landlock._launcher import distrust, find_launcher
from seam.sandbox_landlock._membership import limit_layers
from seam.sandbox_landlock._message import read_launcher_status
from seam.sandbox_landlock._preparation import Preparation
from seam.sandbox_landlock._proxy import Recorder
from seam.sandbox_landlock._self_test import Trial, self_test
from seam.sandbox_landlock._syscalls import ARCHITECTURES
from seam.subprocess_def import SubprocessRuntime

_PORTS_SINCE = 4


class LandlockRuntime(SandboxRuntime):
    """Confines by a launcher that restricts itself and then becomes the command.

    Args:
        subprocess: starts the self-test.
        config: see `LandlockConfig`.
        tasks: where proxies run; without it a network `allow-list` is refused.
        record: keeps the decisions of proxies; without it they are logged only.
    """

    def __init__(
        self,
        subprocess: SubprocessRuntime,
        config: LandlockConfig,
        tasks: TaskGroup | None = None,
        record: Recorder | None = None,
    ) -> None:
        self._tasks = tasks
        self._subprocess = subprocess
        self._config = config
        self._preparation = Preparation(config, tasks, record)
        self._launcher = find_launcher(config.launcher)
        self._swept = False
        self._abi = landlock_abi()
        self._judged: tuple[Policy, Enforcement, tuple[str, ...]] | None = None
        files = self._launcher.files if self._launcher else ()
        self._probing = Probing(
            Circumstances(self.mechanism, config, (__file__,), lambda: files),
            self._probe,
            folder=verdict_folder(config.verdicts),
            retry=config.probe_retry,
        )

    @property
    def mechanism(self) -> str:
        """`landlock`."""
        return "landlock"

    async def probe(self) -> ProbeResult:
        """See `SandboxRuntime.probe`."""
        if not self._swept:
            await anyio.to_thread.run_sync(self._preparation.sweep)
            self._swept = True
        return await self._probing.known()

    async def confine(
        self, argv: Sequence[str], policy: Policy, *, cwd: str, env: Mapping[str, str]
    ) -> Confined:
        """See `SandboxRuntime.confine`."""
        check_arguments(argv, policy)
        probe = await self.probe()
        abi = self._abi
        if not probe.usable or self._launcher is None or isinstance(abi, Finding):
            raise SandboxUnavailable(probe.findings, self.mechanism)
        enforcement, hidden = self._permitted(policy, abi)
        carve.refuse_existing(hidden)
        return self._preparation.confine(self._launcher, abi, argv, policy, cwd, env, enforcement)

    def read_status(self, confined: Confined, status: bytes) -> LaunchStatus:
        """See `SandboxRuntime.read_status`."""
        return read_launcher_status(status)

    def denials(self, confined: Confined) -> tuple[Denial, ...]:
        """What the proxy refused; neither Landlock nor seccomp tells anybody but the kernel's audit log."""
        return self._preparation.denials(confined.token)

    async def release(self, confined: Confined) -> Released:
        """See `SandboxRuntime.release`."""
        return await self._preparation.release(confined.token)

    async def report(self) -> RuntimeReport:
        """See `SandboxRuntime.report`. Always probes anew."""
        probe = await self._probing.fresh()
        abi = self._abi
        if not probe.usable or isinstance(abi, Finding):
            return RuntimeReport(probes=(probe,), modes=())
        return RuntimeReport(
            probes=(probe,), modes=mode_reports(lambda policy: self._enforcement(policy, abi))
        )

    def close(self) -> None:
        """Remove the folders of commands that were never released."""
        self._preparation.close()

    async def _probe(self) -> ProbeResult:
        began = time.monotonic()
        abi = self._abi
        finding = self._obstacle(abi)
        if finding is None and isinstance(abi, int):
            finding = await self._self_test(abi)
        launcher = self._launcher
        return ProbeResult(
            runtime=self.mechanism,
            usable=finding is None,
            version=f"ABI {abi}" if isinstance(abi, int) else "",
            runner=launcher.files[-1] if launcher else "",
            findings=(finding,) if finding else (),
            features=(f"landlock-{abi}", f"{launcher.kind}-launcher")
            if launcher and isinstance(abi, int)
            else (),
            seconds=time.monotonic() - began,
        )

    def _obstacle(self, abi: int | Finding) -> Finding | None:
        if platform.system() != "Linux" or platform.machine() not in ARCHITECTURES:
            return Finding(
                reason=Reason.UNSUPPORTED_PLATFORM, detail=f"{platform.system()} {platform.machine()}"
            )
        if isinstance(abi, Finding):
            return abi
        if self._launcher is None:
            return Finding(reason=Reason.NO_BINARY, detail="this wheel has no compiled launcher")
        return next(filter(None, map(distrust, self._launcher.files)), None)

    async def _self_test(self, abi: int) -> Finding | None:
        launcher = self._launcher
        assert launcher is not None, "an obstacle otherwise"

        async def confine(policy: Policy, argv: tuple[str, ...], cwd: str) -> Confined:
            env = {"PATH": "/usr/bin:/bin"}
            enforcement = self._enforcement(policy, abi)
            return self._preparation.confine(launcher, abi, argv, policy, cwd, env, enforcement)

        return await self_test(
            self._subprocess,
            confine,
            self.read_status,
            self.release,
            timeout=self._config.probe_timeout,
            explain=_explain,
        )

    def _permitted(self, policy: Policy, abi: int) -> tuple[Enforcement, tuple[str, ...]]:
        """What is enforced, and the hidden paths that must not exist; remembered for one policy, it follows from that.

        Raises:
            SandboxUnavailable: the policy forbids to run like that.
        """
        if self._judged is None or self._judged[0] is not policy:
            enforcement = self._enforcement(policy, abi)
            self._refuse(policy, abi, enforcement)
            self._judged = policy, enforcement, carve.hidden_inside_writable(policy)
        return self._judged[1:]

    def _refuse(self, policy: Policy, abi: int, enforcement: Enforcement) -> None:
        """What cannot be run at all: gaps that the policy forbids, a launcher that the command itself could have
        replaced."""
        findings = refused_gaps(policy, enforcement)
        if policy.network == "allow-list" and (abi < _PORTS_SINCE or self._tasks is None):
            detail = f"a network allow-list needs Landlock ABI {_PORTS_SINCE} and a plugin to run the proxy"
            findings.append(Finding(reason=Reason.GAP_FORBIDDEN, detail=detail))
        for path in self._launcher.files if self._launcher else ():
            if policy.access_of(path) == "write" or any(
                path.startswith(r.path + "/") for r in policy.writable
            ):
                findings.append(
                    Finding(reason=Reason.UNTRUSTED_BINARY, detail=f"{path} lies in a writable root")
                )
        if findings:
            raise SandboxUnavailable(tuple(findings), self.mechanism)

    def _enforcement(self, policy: Policy, abi: int) -> Enforcement:
        groups = self._preparation.groups
        layers = (f"landlock-{abi}", "seccomp", "no-capabilities", *limit_layers(groups))
        gaps = landlock_gaps(
            policy,
            abi,
            groups.limits,
            root=os.geteuid() == 0,
            shared_memory=self._config.shared_memory,
        )
        return Enforcement.of(f"landlock ABI {abi}", layers, gaps)


def _explain(trial: Trial) -> Finding:
    status = read_launcher_status(trial.status)
    detail = status.failure or trial.stderr.decode("utf-8", "replace").strip()[:300]
    reason = Reason.NO_SECCOMP if detail.startswith("filter:") else Reason.PROBE_FAILED
    return Finding(reason=reason, detail=detail)
