"""Trying which bwrap works here, and in which shape."""

from __future__ import annotations

import platform
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

import anyio

from seam.sandbox_bwrap._config import BwrapConfig
from seam.sandbox_bwrap._explain import explain
from seam.sandbox_bwrap._ready import Ready, candidate
from seam.sandbox_bwrap._runner import ask, find_runner
from seam.sandbox_def import Confined, Finding, LaunchStatus, Policy, ProbeResult, Reason, Released
from seam.sandbox_landlock import ARCHITECTURES, Launcher, distrust, read_launcher_status, self_test
from seam.subprocess_def import SubprocessRuntime

_Confine = Callable[[Ready, Sequence[str], Policy, str, Mapping[str, str]], Confined]
_Release = Callable[[Confined], Awaitable[Released]]


class Trier:
    """Tries the strictest shape first, then what the configuration permits where this machine does not.

    Args:
        subprocess: starts the self-tests.
        config: see `BwrapConfig`.
        launcher: what applies the inner layers, `None` where this wheel has none of the configured kind.
        confine, release: of the runtime, for one shape.
    """

    def __init__(
        self,
        subprocess: SubprocessRuntime,
        config: BwrapConfig,
        launcher: Launcher | None,
        confine: _Confine,
        release: _Release,
    ) -> None:
        self._subprocess = subprocess
        self._config = config
        self._launcher = launcher
        self._confine = confine
        self._release = release

    async def probe(self) -> ProbeResult:
        """What works, or each reason why nothing does."""
        began = time.monotonic()
        strictest = await self._find()
        if isinstance(strictest, Finding):
            ready, findings = None, [strictest]
        else:
            ready, findings = await self._try_shapes(strictest)
        return ProbeResult(
            runtime="bwrap",
            usable=ready is not None,
            version=ready.version if ready else "",
            runner=ready.runner if ready else "",
            findings=tuple(findings),
            features=ready.features if ready else (),
            seconds=time.monotonic() - began,
        )

    async def _find(self) -> Ready | Finding:
        if platform.system() != "Linux" or platform.machine() not in ARCHITECTURES:
            return Finding(
                reason=Reason.UNSUPPORTED_PLATFORM, detail=f"{platform.system()} {platform.machine()}"
            )
        path = find_runner(self._config.runner)
        if isinstance(path, Finding):
            return path
        launcher = self._launcher
        if launcher is None:
            return Finding(reason=Reason.NO_BINARY, detail="this wheel has no compiled launcher")
        untrusted = next(filter(None, map(distrust, launcher.files)), None)
        if untrusted is not None:
            return untrusted
        with anyio.move_on_after(self._config.probe_timeout):
            runner = await ask(self._subprocess, path)
            if isinstance(runner, Finding):
                return runner
            return candidate(
                runner,
                launcher,
                private_proc=self._config.proc != "host",
                own_network=self._config.network_isolation != "seccomp",
                landlock=self._config.landlock,
            )
        return Finding(reason=Reason.PROBE_HUNG, detail=f"{path} does not even print its version")

    async def _try_shapes(self, ready: Ready) -> tuple[Ready | None, list[Finding]]:
        findings: list[Finding] = []
        while True:
            finding = await self._self_test(ready)
            if finding is None:
                return ready, findings
            findings.append(finding)
            weaker = self._weaker(ready, finding.reason)
            if weaker is None:
                return None, findings
            ready = weaker

    def _weaker(self, ready: Ready, reason: Reason) -> Ready | None:
        """The next shape to try, if the configuration permits to do without what failed."""
        config, shape = self._config, ready.shape
        if reason is Reason.MASKED_PROC and config.proc == "auto" and shape.private_proc:
            return replace(ready, shape=replace(shape, private_proc=False))
        if reason is Reason.NETWORK_SETUP and config.network_isolation == "auto" and shape.own_network:
            return replace(ready, shape=replace(shape, own_network=False))
        return None

    async def _self_test(self, ready: Ready) -> Finding | None:
        async def confine(policy: Policy, argv: tuple[str, ...], cwd: str) -> Confined:
            return self._confine(ready, argv, policy, cwd, {"PATH": "/usr/bin:/bin"})

        def read_status(confined: Confined, status: bytes) -> LaunchStatus:
            return read_launcher_status(status)

        return await self_test(
            self._subprocess,
            confine,
            read_status,
            self._release,
            timeout=self._config.probe_timeout,
            explain=explain,
        )
