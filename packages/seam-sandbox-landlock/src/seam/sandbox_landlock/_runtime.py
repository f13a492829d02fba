"""The Landlock runtime."""

from __future__ import annotations

import errno
import os
import platform
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from seam.sandbox_def import (
    MODES,
    NETWORKS,
    Confined,
    Denial,
    Enforcement,
    Finding,
    InheritedBytes,
    LaunchStatus,
    ModeReport,
    Network,
    Policy,
    ProbeResult,
    Reason,
    Released,
    RuntimeReport,
    SandboxRuntime,
    SandboxUnavailable,
)
from seam.sandbox_landlock import _carve as carve
from seam.sandbox_landlock import _rights as rights
from seam.sandbox_landlock._abi import landlock_abi
from seam.sandbox_landlock._cgroups import ControlGroups, Group
from seam.sandbox_landlock._config import LandlockConfig
from seam.sandbox_landlock._folders import PrivateFolders
from seam.sandbox_landlock._gaps import landlock_gaps
from seam.sandbox_landlock._launcher import Launcher, distrust, find_launcher
from seam.sandbox_landlock._message import Message, read_launcher_status
from seam.sandbox_landlock._proxy import ProxySession, proxy_variables, serve
from seam.sandbox_landlock._seccomp import Assembler, FilterProfile
from seam.sandbox_landlock._self_test import Trial, self_test
from seam.sandbox_landlock._syscalls import ARCHITECTURES
from seam.subprocess_def import SubprocessRuntime

OWN_LACK = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors that say nothing about the sandbox: this process or the system has nothing left to open a file with."""

_PORTS_SINCE = 4

MESSAGE, STATUS = 64, 65
"""Descriptors of the launcher; high, so that they are in nobody's way."""


class LandlockRuntime(SandboxRuntime):
    """Confines by a launcher that restricts itself and then becomes the command.

    Args:
        subprocess: starts the self-test.
        config: see `LandlockConfig`.
        tasks: where proxies run; without it a network `allow-list` is refused.
    """

    def __init__(
        self, subprocess: SubprocessRuntime, config: LandlockConfig, tasks: TaskGroup | None = None
    ) -> None:
        self._tasks = tasks
        self._subprocess = subprocess
        self._config = config
        self._folders = PrivateFolders(config.temporary)
        self._carver = carve.Carver()
        self._launcher = find_launcher(config.launcher)
        self._probed: ProbeResult | None = None
        self._probing = anyio.Lock()
        self._groups = ControlGroups(wanted=config.control_groups)
        self._held: dict[str, _Held] = {}
        self._assembler: Assembler | None = None
        self._encoded: tuple[list[tuple[str, int]], int, bytes] = ([], 0, b"")

    @property
    def mechanism(self) -> str:
        """`landlock`."""
        return "landlock"

    async def probe(self) -> ProbeResult:
        """See `SandboxRuntime.probe`."""
        async with self._probing:
            if self._probed is None:
                self._probed = await self._probe()
            return self._probed

    async def confine(
        self, argv: Sequence[str], policy: Policy, *, cwd: str, env: Mapping[str, str]
    ) -> Confined:
        """See `SandboxRuntime.confine`."""
        check_arguments(argv, policy)
        probe = await self.probe()
        if not probe.usable or self._launcher is None:
            raise SandboxUnavailable(probe.findings, self.mechanism)
        abi = landlock_abi()
        assert isinstance(abi, int), "the probe found an interface, and kernels do not lose it"
        self._refuse(policy, abi)
        return self._confine(self._launcher, abi, argv, policy, cwd, env)

    def read_status(self, confined: Confined, status: bytes) -> LaunchStatus:
        """See `SandboxRuntime.read_status`."""
        return read_launcher_status(status)

    def denials(self, confined: Confined) -> tuple[Denial, ...]:
        """What the proxy refused; neither Landlock nor seccomp tells anybody but the kernel's audit log."""
        held = self._held.get(confined.token)
        return tuple(held.session.denials) if held is not None and held.session is not None else ()

    async def release(self, confined: Confined) -> Released:
        """See `SandboxRuntime.release`."""
        held = self._held.pop(confined.token, None)
        if held is None:
            return Released()
        if held.session is not None:
            held.session.stop()
        folder, group = held.folder, held.group
        left: list[tuple[str, str]] = []
        problem = ""
        with anyio.CancelScope(shield=True):
            if not self._folders.remove_empty(folder):
                problem = await anyio.to_thread.run_sync(self._folders.remove, folder)
            left += [(folder, problem)] if problem else []
            left += await self._groups.remove(group) if group else []
        return Released(removed=() if problem else (folder,), left=tuple(left))

    async def report(self) -> RuntimeReport:
        """See `SandboxRuntime.report`."""
        probe = await self.probe()
        abi = landlock_abi()
        if not probe.usable or not isinstance(abi, int):
            return RuntimeReport(probes=(probe,), modes=())
        modes = tuple(
            ModeReport(
                mode=mode, network=network, enforcement=self._enforcement(sample_policy(mode, network), abi)
            )
            for mode in MODES[:-1]
            for network in NETWORKS
        )
        return RuntimeReport(probes=(probe,), modes=modes)

    def close(self) -> None:
        """Remove the folders of commands that were never released."""
        for held in self._held.values():
            self._folders.remove(held.folder)
            if held.group is not None:
                self._groups.remove_now(held.group)
            if held.session is not None:
                held.session.stop()
        self._held.clear()

    async def _probe(self) -> ProbeResult:
        began = time.monotonic()
        finding = self._obstacle()
        abi = landlock_abi()
        if finding is None and isinstance(abi, int):
            await anyio.to_thread.run_sync(self._folders.sweep)
            self._groups.sweep()
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

    def _obstacle(self) -> Finding | None:
        if platform.system() != "Linux" or platform.machine() not in ARCHITECTURES:
            return Finding(
                reason=Reason.UNSUPPORTED_PLATFORM, detail=f"{platform.system()} {platform.machine()}"
            )
        abi = landlock_abi()
        if isinstance(abi, Finding):
            return abi
        if self._launcher is None:
            return Finding(reason=Reason.NO_BINARY, detail="this wheel has no compiled launcher")
        return next(filter(None, map(distrust, self._launcher.files)), None)

    async def _self_test(self, abi: int) -> Finding | None:
        launcher = self._launcher
        assert launcher is not None, "an obstacle otherwise"

        async def confine(policy: Policy, argv: tuple[str, ...], cwd: str) -> Confined:
            return self._confine(launcher, abi, argv, policy, cwd, {"PATH": "/usr/bin:/bin"})

        return await self_test(
            self._subprocess,
            confine,
            self.read_status,
            self.release,
            timeout=self._config.probe_timeout,
            explain=_explain,
        )

    def _path_fields(self, policy: Policy, abi: int) -> bytes:
        """The rules of a policy as fields, encoded again only when they have changed."""
        rules = self._carver.path_rules(policy)
        known, version, fields = self._encoded
        if known is not rules or version != abi:
            fresh = Message(status=None)
            add_paths(fresh, abi, rules)
            fields = fresh.fields
            self._encoded = rules, abi, fields
        return fields

    def _open_proxy(self, policy: Policy) -> tuple[int, ProxySession | None]:
        if policy.network != "allow-list" or self._tasks is None:
            return 0, None
        session = ProxySession(policy.allowed_hosts, self._config.connect_timeout)
        listener = socket.create_server(("127.0.0.1", 0))
        self._tasks.start_soon(serve, listener, session)
        return int(listener.getsockname()[1]), session

    def _refuse(self, policy: Policy, abi: int) -> None:
        """What cannot be run at all: gaps that the policy forbids, hidden files in a writable root, a launcher
        that the command itself could have replaced."""
        hidden = carve.hidden_inside_writable(policy)
        findings = [
            Finding(reason=Reason.GAP_FORBIDDEN, detail=f"hidden inside a writable root: {p}") for p in hidden
        ]
        findings += refused_gaps(policy, self._enforcement(policy, abi))
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
        layers = (f"landlock-{abi}", "seccomp", "no-capabilities", *limit_layers(self._groups))
        gaps = landlock_gaps(
            policy,
            abi,
            self._groups.limits,
            root=os.geteuid() == 0,
            shared_memory=self._config.shared_memory,
        )
        return Enforcement.of(f"landlock ABI {abi}", layers, gaps)

    def _confine(
        self,
        launcher: Launcher,
        abi: int,
        argv: Sequence[str],
        policy: Policy,
        cwd: str,
        env: Mapping[str, str],
    ) -> Confined:
        token = secrets.token_hex(16)
        folder = self._folders.make()
        group = make_group(self._groups, policy, self.mechanism, runners=0)
        port, session = self._open_proxy(policy)
        self._held[token] = _Held(folder, group, session)
        env = {**env, **(proxy_variables(port) if port else {})}
        message = Message(status=STATUS)
        message.add("close")
        enter_group(message, group)
        message.limit(policy.limits, without=self._groups.limits)
        message.add("cwd", cwd)
        shared = [("/dev/shm", rights.WRITE)] if self._config.shared_memory else []
        open_ruleset(message, policy.network, abi)
        message.add_encoded(self._path_fields(policy, abi))
        close_ruleset(message, abi, [*shared, (folder, rights.WRITE)], port)
        message.add("caps")
        message.environment({**env, "TMPDIR": folder})
        inet = {"none": "none", "allow-list": "tcp", "full": "all"}[policy.network]
        if self._assembler is None:
            self._assembler = Assembler(ARCHITECTURES[platform.machine()])
        program = self._assembler.program(FilterProfile(inet=inet, own_processes=False, own_ipc=False))
        head = (*launcher.argv, str(MESSAGE), "--")
        return Confined(
            token=token,
            argv=(*head, *argv),
            payload=len(head),
            inputs=(InheritedBytes(number=MESSAGE, data=message.encode(program)),),
            status=STATUS,
            temporary=folder,
            enforcement=self._enforcement(policy, abi),
            policy=policy.digest,
        )


@dataclass(frozen=True)
class _Held:
    """What one command needs until it is released."""

    folder: str
    group: Group | None
    session: ProxySession | None


def open_ruleset(message: Message, network: Network, abi: int) -> None:
    """Append the field that makes a Landlock ruleset.

    Args:
        message: to append to.
        network: mode by which TCP ports are handled; `full` leaves them alone, also in a network of one's own.
        abi: version of the kernel's interface.
    """
    kept = rights.handled(abi, network=network)
    message.add("ruleset", f"{kept.files:x}:{kept.ports:x}:{kept.scopes:x}")


def add_paths(message: Message, abi: int, rules: Sequence[tuple[str, int]]) -> None:
    """Append a field for each pair of path and rights."""
    kept = rights.handled(abi, network="full").files
    for path, allowed in rules:
        message.add("path", f"{allowed & kept:x}:{path}")


def close_ruleset(message: Message, abi: int, rules: Sequence[tuple[str, int]], port: int = 0) -> None:
    """Append the last rules, and what enforces them all.

    Args:
        message: to append to.
        abi: version of the kernel's interface.
        rules: pairs of path and rights.
        port: TCP port that may be connected to, 0 for none.
    """
    add_paths(message, abi, rules)
    if port:
        message.add("port", f"{rights.CONNECT_TCP:x}:{port}")
    message.add("restrict")


def make_group(groups: ControlGroups, policy: Policy, runtime: str, *, runners: int) -> Group | None:
    """A control group for one command.

    Raises:
        SandboxUnavailable: one was possible at the probe and is not any more.
        OSError: this process has no descriptors left.
    """
    try:
        return groups.make(policy.limits, runners=runners)
    except OSError as error:
        if error.errno in OWN_LACK:
            raise
        finding = Finding(reason=Reason.NO_SPACE, detail=f"a control group cannot be made: {error}")
        raise SandboxUnavailable((finding,), runtime) from error


def enter_group(message: Message, group: Group | None) -> None:
    """Append the fields by which the launcher joins a group."""
    for door in group.doors if group else ():
        message.add("join", door)


def limit_layers(groups: ControlGroups) -> tuple[str, ...]:
    """Names of the layers that limit resources."""
    return ("rlimits", *(f"cgroup-{name}" for name in sorted(groups.limits)))


def check_arguments(argv: Sequence[str], policy: Policy) -> None:
    """Refuse what no runtime can confine.

    Raises:
        ValueError: nothing to run, NUL bytes, or a policy that does not confine.
    """
    if not policy.confines:
        raise ValueError("a policy of mode full-access does not confine; run the command as it is")
    if not argv:
        raise ValueError("there is no command to confine; argv is empty")
    if any("\0" in argument for argument in argv):
        raise ValueError("an argument holds a NUL byte, which no program can receive; remove it")


def refused_gaps(policy: Policy, enforcement: Enforcement) -> list[Finding]:
    """What in the enforcement the policy does not accept."""
    codes = [gap.code for gap in enforcement.gaps]
    found = [
        Finding(reason=Reason.GAP_FORBIDDEN, detail=gap.explanation)
        for gap in enforcement.gaps
        if gap.code in policy.forbidden_gaps
    ]
    if codes and not policy.partial:
        found.append(Finding(reason=Reason.PARTIAL_FORBIDDEN, detail=f"gaps: {', '.join(codes)}"))
    return found


def sample_policy(mode: str, network: str) -> Policy:
    """A policy without lists, for reports."""
    return Policy.model_validate({"mode": mode, "network": network})


def _explain(trial: Trial) -> Finding:
    status = read_launcher_status(trial.status)
    detail = status.failure or trial.stderr.decode("utf-8", "replace").strip()[:300]
    reason = Reason.NO_SECCOMP if detail.startswith("filter:") else Reason.PROBE_FAILED
    return Finding(reason=reason, detail=detail)
