"""The bubblewrap runtime."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence

import anyio
from anyio.abc import TaskGroup

from seam.sandbox_bwrap._config import BwrapConfig
from seam.sandbox_bwrap._gaps import bwrap_gaps
from seam.sandbox_bwrap._preparation import Preparation
from seam.sandbox_bwrap._ready import Ready, ready
from seam.sandbox_bwrap._runner import runner_files
from seam.sandbox_bwrap._trial import Trier
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
from seam.sandbox_landlock import (
    LandlockConfig,
    LandlockRuntime,
    Recorder,
    find_launcher,
    limit_layers,
    read_launcher_status,
)
from seam.subprocess_def import SubprocessRuntime


class BwrapRuntime(SandboxRuntime):
    """Confines by namespaces, with Landlock, seccomp and limits applied inside by the launcher.

    Args:
        subprocess: starts the self-tests.
        config: see `BwrapConfig`.
        tasks: where proxies run; without it a network `allow-list` is refused.
        record: keeps the decisions of proxies; without it they are logged only.
    """

    def __init__(
        self,
        subprocess: SubprocessRuntime,
        config: BwrapConfig,
        tasks: TaskGroup | None = None,
        record: Recorder | None = None,
    ) -> None:
        self._tasks = tasks
        self._config = config
        self._preparation = Preparation(config, tasks, record)
        self._launcher = find_launcher(config.launcher)
        self._fallback = (
            LandlockRuntime(subprocess, _fallback_config(config), tasks, record)
            if config.fallback == "landlock"
            else None
        )
        self._fallen: set[str] = set()
        self._swept = False
        trier = Trier(subprocess, config, self._launcher, self._confine, self.release)
        files = (*runner_files(config.runner), *(self._launcher.files if self._launcher else ()))
        self._probing = Probing(
            Circumstances(
                self.mechanism, config, (__file__, inspect.getfile(LandlockRuntime)), lambda: files
            ),
            trier.probe,
            folder=verdict_folder(config.verdicts),
            retry=config.probe_retry,
        )
        self._ready: tuple[ProbeResult, Ready] | None = None
        self._judged: tuple[Policy, Ready, Enforcement] | None = None

    @property
    def mechanism(self) -> str:
        """`bwrap`."""
        return "bwrap"

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
        found = self._ready_of(probe)
        if found is None:
            return await self._fall_back(probe, argv, policy, cwd, env)
        return self._preparation.confine(found, argv, policy, cwd, env, self._permitted(policy, found))

    def read_status(self, confined: Confined, status: bytes) -> LaunchStatus:
        """See `SandboxRuntime.read_status`."""
        return read_launcher_status(status)

    def denials(self, confined: Confined) -> tuple[Denial, ...]:
        """What the proxy refused; the other layers tell nobody."""
        if self._fallback is not None and confined.token in self._fallen:
            return self._fallback.denials(confined)
        return self._preparation.denials(confined.token)

    async def release(self, confined: Confined) -> Released:
        """See `SandboxRuntime.release`."""
        if self._fallback is not None and confined.token in self._fallen:
            self._fallen.discard(confined.token)
            return await self._fallback.release(confined)
        return await self._preparation.release(confined.token)

    async def report(self) -> RuntimeReport:
        """See `SandboxRuntime.report`. Always probes anew."""
        probe = await self._probing.fresh()
        fallback = await self._fallback.report() if self._fallback is not None else None
        probes = (probe, *(fallback.probes if fallback else ()))
        found = self._ready_of(probe)
        if found is None:
            return RuntimeReport(probes=probes, modes=fallback.modes if fallback else ())
        return RuntimeReport(
            probes=probes, modes=mode_reports(lambda policy: self._enforcement(policy, found))
        )

    def close(self) -> None:
        """Remove what commands left that were never released."""
        self._preparation.close()
        if self._fallback is not None:
            self._fallback.close()

    def _ready_of(self, probe: ProbeResult) -> Ready | None:
        if not probe.usable or self._launcher is None:
            return None
        if self._ready is None or self._ready[0] is not probe:
            self._ready = probe, ready(probe, self._launcher, landlock=self._config.landlock)
        return self._ready[1]

    async def _fall_back(
        self, probe: ProbeResult, argv: Sequence[str], policy: Policy, cwd: str, env: Mapping[str, str]
    ) -> Confined:
        if self._fallback is None:
            raise SandboxUnavailable(probe.findings, self.mechanism)
        try:
            confined = await self._fallback.confine(argv, policy, cwd=cwd, env=env)
        except SandboxUnavailable as error:
            raise SandboxUnavailable((*probe.findings, *error.findings), "bwrap, then landlock") from error
        self._fallen.add(confined.token)
        return confined

    def _permitted(self, policy: Policy, ready: Ready) -> Enforcement:
        """What is enforced, remembered for one policy: it follows from what is known already.

        Raises:
            SandboxUnavailable: the policy forbids to run like that.
        """
        if self._judged is None or self._judged[0] is not policy or self._judged[1] is not ready:
            enforcement = self._enforcement(policy, ready)
            self._refuse(policy, ready, enforcement)
            self._judged = policy, ready, enforcement
        return self._judged[2]

    def _refuse(self, policy: Policy, ready: Ready, enforcement: Enforcement) -> None:
        findings = refused_gaps(policy, enforcement)
        if policy.network == "allow-list" and (self._tasks is None or not ready.shape.own_network):
            detail = "a network allow-list needs a network namespace, and a plugin to run the proxy"
            findings.append(Finding(reason=Reason.NETWORK_SETUP, detail=detail))
        for path in (ready.runner, *ready.launcher.files):
            if policy.access_of(os.path.realpath(path)) == "write":
                findings.append(
                    Finding(reason=Reason.UNTRUSTED_BINARY, detail=f"{path} lies in a writable root")
                )
        if findings:
            raise SandboxUnavailable(tuple(findings), self.mechanism)

    def _enforcement(self, policy: Policy, ready: Ready) -> Enforcement:
        layers = [
            "namespaces",
            *([f"landlock-{ready.abi}"] if ready.abi else []),
            "seccomp",
            "no-capabilities",
            *limit_layers(self._preparation.groups),
        ]
        gaps = bwrap_gaps(policy, ready.shape, self._preparation.groups.limits)
        return Enforcement.of(f"bwrap {ready.version}", tuple(layers), gaps)

    def _confine(
        self, ready: Ready, argv: Sequence[str], policy: Policy, cwd: str, env: Mapping[str, str]
    ) -> Confined:
        enforcement = self._enforcement(policy, ready)
        return self._preparation.confine(ready, argv, policy, cwd, env, enforcement)


def _fallback_config(config: BwrapConfig) -> LandlockConfig:
    """Its fields are of the same names here."""
    return LandlockConfig.model_validate(
        config.model_dump(include=set(LandlockConfig.model_fields) & set(BwrapConfig.model_fields))
    )
