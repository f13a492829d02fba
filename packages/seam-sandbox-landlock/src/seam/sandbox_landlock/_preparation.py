"""Preparing one command for the launcher, and looking after what was made for it."""

from __future__ import annotations

import platform
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from seam.sandbox_def import Confined, Denial, Enforcement, InheritedBytes, Policy, Released
from seam.sandbox_landlock import _carve as carve
from seam.sandbox_landlock import _rights as rights
from seam.sandbox_landlock._cgroups import ControlGroups, Group
from seam.sandbox_landlock._config import LandlockConfig
from seam.sandbox_landlock._folders import PrivateFolders
from seam.sandbox_landlock._launcher import Launcher
from seam.sandbox_landlock._membership import enter_group, make_group
from seam.sandbox_landlock._message import Message
from seam.sandbox_landlock._proxy import ProxySession, Recorder
from seam.sandbox_landlock._proxy_door import proxy_variables, serve
from seam.sandbox_landlock._ruleset import add_paths, close_ruleset, open_ruleset
from seam.sandbox_landlock._seccomp import Assembler, FilterProfile
from seam.sandbox_landlock._syscalls import ARCHITECTURES

MESSAGE, STATUS = 64, 65
"""Descriptors of the launcher; high, so that they are in nobody's way."""

_INET = {"none": "none", "allow-list": "tcp", "full": "all"}


@dataclass(frozen=True)
class _Held:
    """What one command needs until it is released."""

    folder: str
    group: Group | None
    session: ProxySession | None


class Preparation:
    """Makes what commands need, and removes it after them.

    Args:
        config: see `LandlockConfig`.
        tasks: where proxies run; without it none does.
        record: keeps the decisions of proxies.
    """

    def __init__(
        self, config: LandlockConfig, tasks: TaskGroup | None, record: Recorder | None = None
    ) -> None:
        self._record = record
        self._config = config
        self._tasks = tasks
        self._folders = PrivateFolders(config.temporary)
        self._carver = carve.Carver()
        self._assembler: Assembler | None = None
        self._encoded: tuple[list[tuple[str, int]], int, bytes] = ([], 0, b"")
        self._held: dict[str, _Held] = {}
        self.groups = ControlGroups(wanted=config.control_groups)

    def sweep(self) -> None:
        """Remove what processes left that were killed."""
        self._folders.sweep()
        self.groups.sweep()

    def confine(
        self,
        launcher: Launcher,
        abi: int,
        argv: Sequence[str],
        policy: Policy,
        cwd: str,
        env: Mapping[str, str],
        enforcement: Enforcement,
    ) -> Confined:
        """What `SandboxRuntime.confine` gives; when it raises, nothing is left."""
        token = secrets.token_hex(16)
        held = self._make(policy, token)
        try:
            message = self._message(held, abi, policy, cwd, env)
        except BaseException:
            self._drop(held)
            raise
        self._held[token] = held
        head = (*launcher.argv, str(MESSAGE), "--")
        return Confined(
            token=token,
            argv=(*head, *argv),
            payload=len(head),
            inputs=(InheritedBytes(number=MESSAGE, data=launcher.code + message),),
            status=STATUS,
            temporary=held.folder,
            enforcement=enforcement,
            policy=policy.digest,
        )

    def denials(self, token: str) -> tuple[Denial, ...]:
        """What the proxy of one command refused."""
        held = self._held.get(token)
        return tuple(held.session.denials) if held is not None and held.session is not None else ()

    async def release(self, token: str) -> Released:
        """Remove what was made for one command; shielded from cancellation."""
        held = self._held.pop(token, None)
        if held is None:
            return Released()
        if held.session is not None:
            held.session.stop()
        left: list[tuple[str, str]] = []
        problem = ""
        with anyio.CancelScope(shield=True):
            if not self._folders.remove_empty(held.folder):
                problem = await anyio.to_thread.run_sync(self._folders.remove, held.folder)
            left += [(held.folder, problem)] if problem else []
            left += await self.groups.remove(held.group) if held.group else []
        return Released(removed=() if problem else (held.folder,), left=tuple(left))

    def close(self) -> None:
        """Remove what was made for commands that were never released."""
        for held in self._held.values():
            self._drop(held)
        self._held.clear()

    def _make(self, policy: Policy, token: str) -> _Held:
        folder = self._folders.make()
        try:
            group = make_group(self.groups, policy, "landlock", runners=0)
        except BaseException:
            self._folders.remove(folder)
            raise
        return _Held(folder, group, self._session(policy, token))

    def _session(self, policy: Policy, token: str) -> ProxySession | None:
        if policy.network != "allow-list" or self._tasks is None:
            return None
        return ProxySession(policy.allowed_hosts, self._config.connect_timeout, token, self._record)

    def _drop(self, held: _Held) -> None:
        self._folders.remove(held.folder)
        if held.group is not None:
            self.groups.remove_now(held.group)
        if held.session is not None:
            held.session.stop()

    def _message(self, held: _Held, abi: int, policy: Policy, cwd: str, env: Mapping[str, str]) -> bytes:
        port = self._open_proxy(held.session)
        message = Message(status=STATUS)
        message.add("close")
        enter_group(message, held.group)
        message.limit(policy.limits, without=self.groups.limits)
        message.add("cwd", cwd)
        shared = [("/dev/shm", rights.WRITE)] if self._config.shared_memory else []
        open_ruleset(message, policy.network, abi)
        message.add_encoded(self._path_fields(policy, abi))
        close_ruleset(message, abi, [*shared, (held.folder, rights.WRITE)], port)
        message.add("caps")
        message.environment({**env, **(proxy_variables(port) if port else {}), "TMPDIR": held.folder})
        if self._assembler is None:
            self._assembler = Assembler(ARCHITECTURES[platform.machine()])
        profile = FilterProfile(inet=_INET[policy.network], own_processes=False, own_ipc=False)
        return message.encode(self._assembler.program(profile))

    def _open_proxy(self, session: ProxySession | None) -> int:
        """The port on loopback where the command finds its proxy, 0 for none."""
        if session is None or self._tasks is None:
            return 0
        listener = socket.create_server(("127.0.0.1", 0))
        self._tasks.start_soon(serve, listener, session)
        return int(listener.getsockname()[1])

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
