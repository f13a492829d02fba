"""The bubblewrap runtime."""

from __future__ import annotations

import os
import platform
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import anyio
from anyio.abc import TaskGroup

from seam.sandbox_bwrap._config import BwrapConfig
from seam.sandbox_bwrap._explain import explain
from seam.sandbox_bwrap._gaps import bwrap_gaps
from seam.sandbox_bwrap._ghosts import Ghosts
from seam.sandbox_bwrap._mounts import PRIVATE, Plan, plan_mounts
from seam.sandbox_bwrap._profile import LAUNCHER_FOLDER, Shape, arguments
from seam.sandbox_bwrap._runner import Runner, ask, find_runner
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
    Policy,
    ProbeResult,
    Reason,
    Released,
    RuntimeReport,
    SandboxRuntime,
    SandboxUnavailable,
)
from seam.sandbox_landlock import (
    ARCHITECTURES,
    MESSAGE,
    OWN_LACK,
    STATUS,
    Assembler,
    ControlGroups,
    FilterProfile,
    Group,
    LandlockConfig,
    LandlockRuntime,
    Launcher,
    Message,
    PrivateFolders,
    ProxySession,
    check_arguments,
    close_ruleset,
    distrust,
    enter_group,
    find_launcher,
    inner_rules,
    landlock_abi,
    limit_layers,
    make_group,
    open_ruleset,
    proxy_variables,
    read_launcher_status,
    refused_gaps,
    sample_policy,
    self_test,
    serve_from_inside,
)
from seam.subprocess_def import SubprocessRuntime

_ARGUMENTS, _OUTER = 66, 67
"""Descriptors of bwrap's arguments, and of the message to the launcher that enters the control group."""

_PROXY_PORT = 3128
"""Port of the proxy on the loopback of the command's own network, where nothing else can be."""

_RUNNERS = 3
"""Processes of the sandbox itself in a control group: bwrap, its helper, and the launcher inside."""


@dataclass(frozen=True)
class _Ready:
    """What the probe found to work."""

    runner: Runner
    launcher: Launcher
    shape: Shape
    abi: int | None


@dataclass(frozen=True)
class _Door:
    """The way out of one command."""

    folder: str
    session: ProxySession


@dataclass(frozen=True)
class _Held:
    """What one command needs until it is released."""

    ghosts: list[str]
    group: Group | None
    door: _Door | None


class BwrapRuntime(SandboxRuntime):
    """Confines by namespaces, with Landlock, seccomp and limits applied inside by the launcher.

    Args:
        subprocess: starts the self-tests.
        config: see `BwrapConfig`.
        tasks: where proxies run; without it a network `allow-list` is refused.
    """

    def __init__(
        self, subprocess: SubprocessRuntime, config: BwrapConfig, tasks: TaskGroup | None = None
    ) -> None:
        self._tasks = tasks
        self._folders = PrivateFolders(config.temporary)
        self._subprocess = subprocess
        self._config = config
        self._ghosts = Ghosts(config.temporary)
        self._groups = ControlGroups(wanted=config.control_groups)
        self._held: dict[str, _Held] = {}
        self._assembler: Assembler | None = None
        self._ready: _Ready | None = None
        self._probed: ProbeResult | None = None
        self._probing = anyio.Lock()
        self._fallback = (
            LandlockRuntime(
                subprocess,
                LandlockConfig(
                    launcher=config.launcher,
                    probe_timeout=config.probe_timeout,
                    temporary=config.temporary,
                    control_groups=config.control_groups,
                ),
                tasks,
            )
            if config.fallback == "landlock"
            else None
        )
        self._fallen: set[str] = set()

    @property
    def mechanism(self) -> str:
        """`bwrap`."""
        return "bwrap"

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
        if self._ready is None:
            return await self._fall_back(probe, argv, policy, cwd, env)
        self._refuse(policy, self._ready)
        return self._confine(self._ready, argv, policy, cwd, env)

    def read_status(self, confined: Confined, status: bytes) -> LaunchStatus:
        """See `SandboxRuntime.read_status`."""
        return read_launcher_status(status)

    def denials(self, confined: Confined) -> tuple[Denial, ...]:
        """What the proxy refused; the other layers tell nobody."""
        if self._fallback is not None and confined.token in self._fallen:
            return self._fallback.denials(confined)
        held = self._held.get(confined.token)
        return tuple(held.door.session.denials) if held is not None and held.door is not None else ()

    async def release(self, confined: Confined) -> Released:
        """See `SandboxRuntime.release`."""
        if self._fallback is not None and confined.token in self._fallen:
            self._fallen.discard(confined.token)
            return await self._fallback.release(confined)
        held = self._held.pop(confined.token, None)
        if held is None:
            return Released()
        removed, left = self._ghosts.let_go(held.ghosts)
        self._close_door(held.door)
        with anyio.CancelScope(shield=True):
            left += await self._groups.remove(held.group) if held.group else []
        return Released(removed=tuple(removed), left=tuple(left))

    async def report(self) -> RuntimeReport:
        """See `SandboxRuntime.report`."""
        probe = await self.probe()
        fallback = await self._fallback.report() if self._fallback is not None else None
        probes = (probe, *(fallback.probes if fallback else ()))
        ready = self._ready
        if ready is None:
            return RuntimeReport(probes=probes, modes=fallback.modes if fallback else ())
        modes = tuple(
            ModeReport(
                mode=mode, network=network, enforcement=self._enforcement(sample_policy(mode, network), ready)
            )
            for mode in MODES[:-1]
            for network in NETWORKS
        )
        return RuntimeReport(probes=probes, modes=modes)

    def close(self) -> None:
        """Remove what commands left that were never released."""
        for held in self._held.values():
            self._ghosts.let_go(held.ghosts)
            self._close_door(held.door)
            if held.group is not None:
                self._groups.remove_now(held.group)
        self._held.clear()
        if self._fallback is not None:
            self._fallback.close()

    async def _fall_back(
        self, probe: ProbeResult, argv: Sequence[str], policy: Policy, cwd: str, env: Mapping[str, str]
    ) -> Confined:
        if self._fallback is None:
            raise SandboxUnavailable(probe.findings, self.mechanism)
        try:
            confined = await self._fallback.confine(argv, policy, cwd=cwd, env=env)
        except SandboxUnavailable as error:
            others: tuple[Finding, ...] = error.findings  # pyright: ignore[reportAssignmentType] - facts are objects
            raise SandboxUnavailable((*probe.findings, *others), "bwrap, then landlock") from error
        self._fallen.add(confined.token)
        return confined

    async def _probe(self) -> ProbeResult:
        began = time.monotonic()
        self._ghosts.sweep()
        self._groups.sweep()
        found = await self._find()
        findings: list[Finding] = []
        if isinstance(found, Finding):
            findings.append(found)
        else:
            self._ready, findings = await self._try_shapes(found)
        ready = self._ready
        return ProbeResult(
            runtime=self.mechanism,
            usable=ready is not None,
            version=ready.runner.version if ready else "",
            runner=ready.runner.path if ready else "",
            findings=tuple(findings),
            features=_features(ready) if ready else (),
            seconds=time.monotonic() - began,
        )

    async def _find(self) -> _Ready | Finding:
        if platform.system() != "Linux" or platform.machine() not in ARCHITECTURES:
            return Finding(
                reason=Reason.UNSUPPORTED_PLATFORM, detail=f"{platform.system()} {platform.machine()}"
            )
        path = find_runner(self._config.runner)
        if isinstance(path, Finding):
            return path
        launcher = find_launcher(self._config.launcher)
        if launcher is None:
            return Finding(reason=Reason.NO_BINARY, detail="this wheel has no compiled launcher")
        untrusted = next(filter(None, map(distrust, launcher.files)), None)
        if untrusted is not None:
            return untrusted
        with anyio.move_on_after(self._config.probe_timeout):
            runner = await ask(self._subprocess, path)
            return (
                runner
                if isinstance(runner, Finding)
                else _Ready(runner, launcher, self._shape(runner), self._abi())
            )
        return Finding(reason=Reason.PROBE_HUNG, detail=f"{path} does not even print its version")

    def _shape(self, runner: Runner) -> Shape:
        return Shape(
            private_proc=self._config.proc != "host",
            own_network=self._config.network_isolation != "seccomp",
            bind_fd="--bind-fd" in runner.options,
            disable_userns="--disable-userns" in runner.options,
            root=os.geteuid() == 0,
        )

    def _abi(self) -> int | None:
        abi = landlock_abi() if self._config.landlock else None
        return abi if isinstance(abi, int) else None

    async def _try_shapes(self, candidate: _Ready) -> tuple[_Ready | None, list[Finding]]:
        """Try the strictest shape, then what the configuration permits where this machine does not."""
        findings: list[Finding] = []
        while True:
            finding = await self._self_test(candidate)
            if finding is None:
                return candidate, findings
            findings.append(finding)
            shape = candidate.shape
            if finding.reason is Reason.MASKED_PROC and self._config.proc == "auto" and shape.private_proc:
                candidate = replace(candidate, shape=replace(shape, private_proc=False))
            elif (
                finding.reason is Reason.NETWORK_SETUP
                and self._config.network_isolation == "auto"
                and shape.own_network
            ):
                candidate = replace(candidate, shape=replace(shape, own_network=False))
            else:
                return None, findings

    async def _self_test(self, candidate: _Ready) -> Finding | None:
        async def confine(policy: Policy, argv: tuple[str, ...], cwd: str) -> Confined:
            return self._confine(candidate, argv, policy, cwd, {"PATH": "/usr/bin:/bin"})

        return await self_test(
            self._subprocess,
            confine,
            self.read_status,
            self.release,
            timeout=self._config.probe_timeout,
            explain=explain,
        )

    def _refuse(self, policy: Policy, ready: _Ready) -> None:
        findings = refused_gaps(policy, self._enforcement(policy, ready))
        if policy.network == "allow-list" and (self._tasks is None or not ready.shape.own_network):
            detail = "a network allow-list needs a network namespace, and a plugin to run the proxy"
            findings.append(Finding(reason=Reason.NETWORK_SETUP, detail=detail))
        for path in (ready.runner.path, *ready.launcher.files):
            if policy.access_of(os.path.realpath(path)) == "write":
                findings.append(
                    Finding(reason=Reason.UNTRUSTED_BINARY, detail=f"{path} lies in a writable root")
                )
        if findings:
            raise SandboxUnavailable(tuple(findings), self.mechanism)

    def _enforcement(self, policy: Policy, ready: _Ready) -> Enforcement:
        layers = [
            "namespaces",
            *([f"landlock-{ready.abi}"] if ready.abi else []),
            "seccomp",
            "no-capabilities",
            *limit_layers(self._groups),
        ]
        gaps = bwrap_gaps(policy, ready.shape, self._groups.limits)
        return Enforcement.of(f"bwrap {ready.runner.version}", tuple(layers), gaps)

    def _confine(
        self, ready: _Ready, argv: Sequence[str], policy: Policy, cwd: str, env: Mapping[str, str]
    ) -> Confined:
        try:
            with self._ghosts.locked() as ghosts:
                plan = plan_mounts(policy, ghosts)
                # The same path may be missing for two rules; it is held once.
                held = list(dict.fromkeys(plan.ghosts))
                self._ghosts.hold(held)
        except OSError as error:
            if error.errno in OWN_LACK:
                raise
            detail = f"mount points cannot be recorded: {error}"
            raise SandboxUnavailable(
                (Finding(reason=Reason.NO_SPACE, detail=detail),), self.mechanism
            ) from error
        door = self._open_door(policy)
        try:
            confined, group = self._assemble(ready, plan, door, argv, policy, cwd, env)
        except BaseException:
            self._ghosts.let_go(held)
            self._close_door(door)
            raise
        self._held[confined.token] = _Held(held, group, door)
        return confined

    def _open_door(self, policy: Policy) -> _Door | None:
        """The socket file through which the launcher hands over a listener of the command's own network."""
        if policy.network != "allow-list" or self._tasks is None:
            return None
        folder = self._folders.make()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{folder}/proxy")
        listener.listen(1)
        session = ProxySession(policy.allowed_hosts, self._config.connect_timeout)
        self._tasks.start_soon(serve_from_inside, listener, session)
        return _Door(folder, session)

    def _close_door(self, door: _Door | None) -> None:
        if door is not None:
            door.session.stop()
            self._folders.remove(door.folder)

    def _assemble(
        self,
        ready: _Ready,
        plan: Plan,
        door: _Door | None,
        argv: Sequence[str],
        policy: Policy,
        cwd: str,
        env: Mapping[str, str],
    ) -> tuple[Confined, Group | None]:
        shape = replace(ready.shape, own_network=ready.shape.own_network and policy.network != "full")
        given = arguments(
            plan,
            shape,
            launcher=ready.launcher.files[-1],
            size=policy.limits.temporary_size,
            socket=f"{door.folder}/proxy" if door else None,
        )
        if door is not None:
            env = {**env, **proxy_variables(_PROXY_PORT)}
        message = self._message(ready, policy, shape, cwd, env)
        inside = (*ready.launcher.argv[:-1], f"{LAUNCHER_FOLDER}/confine", str(MESSAGE), "--")
        group = make_group(self._groups, policy, self.mechanism, runners=_RUNNERS)
        outside, outer = _outside(ready.launcher, group)
        head = (*outside, ready.runner.path, "--args", str(_ARGUMENTS), "--", *inside)
        listed = os.fsencode("\0".join(given.options)) + b"\0"
        token = secrets.token_hex(16)
        confined = Confined(
            token=token,
            argv=(*head, *argv),
            payload=len(head),
            inputs=(
                InheritedBytes(number=MESSAGE, data=message),
                InheritedBytes(number=_ARGUMENTS, data=listed),
                *outer,
                *given.inputs,
            ),
            paths=given.paths,
            status=STATUS,
            temporary="/tmp",
            enforcement=self._enforcement(policy, ready),
            policy=policy.digest,
        )
        return confined, group

    def _message(
        self, ready: _Ready, policy: Policy, shape: Shape, cwd: str, env: Mapping[str, str]
    ) -> bytes:
        message = Message(status=STATUS)
        message.add("close")
        message.limit(policy.limits, without=self._groups.limits)
        message.add("cwd", cwd)
        if policy.network == "allow-list":
            message.add("listen", f"{_PROXY_PORT}:{LAUNCHER_FOLDER}/proxy")
        if ready.abi is not None:
            open_ruleset(message, "full", ready.abi)
            close_ruleset(message, ready.abi, inner_rules(policy, (*PRIVATE, "/dev/shm")))
        message.add("caps")
        message.add("reap", "survivors" if shape.private_proc else "")
        # /tmp is the command's own anyway: the variable is set right only where somebody set it.
        message.environment({**env, "TMPDIR": "/tmp"} if "TMPDIR" in env else env)
        inet = "none" if policy.network == "none" and not shape.own_network else "all"
        profile = FilterProfile(inet=inet, own_processes=True, own_ipc=True)
        if self._assembler is None:
            self._assembler = Assembler(ARCHITECTURES[platform.machine()])
        return message.encode(self._assembler.program(profile))


def _outside(launcher: Launcher, group: Group | None) -> tuple[tuple[str, ...], tuple[InheritedBytes, ...]]:
    """What starts bwrap: it enters the control group, which cannot be written any more from inside, and keeps
    polite signals for the command."""
    message = Message(status=None)
    message.add("runner")
    enter_group(message, group)
    return (*launcher.argv, str(_OUTER), "--"), (InheritedBytes(number=_OUTER, data=message.encode()),)


def _features(ready: _Ready) -> tuple[str, ...]:
    shape = ready.shape
    found = [f"{ready.launcher.kind}-launcher"]
    found += [f"landlock-{ready.abi}"] if ready.abi else []
    found += [
        name
        for name, there in (
            ("bind-fd", shape.bind_fd),
            ("disable-userns", shape.disable_userns),
            ("private-proc", shape.private_proc),
            ("network-namespace", shape.own_network),
        )
        if there
    ]
    return tuple(found)
