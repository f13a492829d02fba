"""Preparing one command for bwrap, and looking after what was made for it."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import anyio
from anyio.abc import TaskGroup

from seam.sandbox_bwrap._config import BwrapConfig
from seam.sandbox_bwrap._ghosts import Ghosts
from seam.sandbox_bwrap._messages import PROXY_PORT, InnerMessages, outer_launcher
from seam.sandbox_bwrap._mounts import Plan, plan_mounts
from seam.sandbox_bwrap._profile import LAUNCHER_FOLDER, arguments
from seam.sandbox_bwrap._ready import Ready
from seam.sandbox_def import (
    Confined,
    Denial,
    Enforcement,
    Finding,
    InheritedBytes,
    Policy,
    Reason,
    Released,
    SandboxUnavailable,
)
from seam.sandbox_landlock import (
    MESSAGE,
    OWN_LACK,
    STATUS,
    ControlGroups,
    Group,
    PrivateFolders,
    ProxySession,
    Recorder,
    make_group,
    proxy_variables,
    serve_from_inside,
)

_ARGUMENTS = 66
"""Descriptor of bwrap's arguments."""

_RUNNERS = 3
"""Processes of the sandbox itself in a control group: bwrap, its helper, and the launcher inside."""


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


class Preparation:
    """Makes what commands need, and removes it after them.

    Args:
        config: see `BwrapConfig`.
        tasks: where proxies run; without it none does.
        record: keeps the decisions of proxies.
    """

    def __init__(self, config: BwrapConfig, tasks: TaskGroup | None, record: Recorder | None = None) -> None:
        self._record = record
        self._config = config
        self._tasks = tasks
        self._folders = PrivateFolders(config.temporary)
        self._ghosts = Ghosts(config.temporary)
        self._inner = InnerMessages()
        self._held: dict[str, _Held] = {}
        self.groups = ControlGroups(wanted=config.control_groups)

    def sweep(self) -> None:
        """Remove what processes left that were killed."""
        self._ghosts.sweep()
        self.groups.sweep()

    def confine(
        self,
        ready: Ready,
        argv: Sequence[str],
        policy: Policy,
        cwd: str,
        env: Mapping[str, str],
        enforcement: Enforcement,
    ) -> Confined:
        """What `SandboxRuntime.confine` gives; when it raises, nothing is left."""
        token = secrets.token_hex(16)
        plan, ghosts = self._plan(policy)
        group: Group | None = None
        door: _Door | None = None
        try:
            door = self._open_door(policy, token)
            group = make_group(self.groups, policy, "bwrap", runners=_RUNNERS)
            confined = self._assemble(token, ready, plan, door, group, argv, policy, cwd, env, enforcement)
        except BaseException:
            self._drop(_Held(ghosts, group, door))
            raise
        self._held[confined.token] = _Held(ghosts, group, door)
        return confined

    def denials(self, token: str) -> tuple[Denial, ...]:
        """What the proxy of one command refused."""
        held = self._held.get(token)
        return tuple(held.door.session.denials) if held is not None and held.door is not None else ()

    async def release(self, token: str) -> Released:
        """Remove what was made for one command; shielded from cancellation."""
        held = self._held.pop(token, None)
        if held is None:
            return Released()
        removed, left = self._ghosts.let_go(held.ghosts)
        self._close_door(held.door)
        with anyio.CancelScope(shield=True):
            left += await self.groups.remove(held.group) if held.group else []
        return Released(removed=tuple(removed), left=tuple(left))

    def close(self) -> None:
        """Remove what was made for commands that were never released."""
        for held in self._held.values():
            self._drop(held)
        self._held.clear()

    def _plan(self, policy: Policy) -> tuple[Plan, list[str]]:
        """What to mount, and the mount points that are held for it from now on."""
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
            raise SandboxUnavailable((Finding(reason=Reason.NO_SPACE, detail=detail),), "bwrap") from error
        return plan, held

    def _open_door(self, policy: Policy, token: str) -> _Door | None:
        """The socket file through which the launcher hands over a listener of the command's own network."""
        if policy.network != "allow-list" or self._tasks is None:
            return None
        folder = self._folders.make()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{folder}/proxy")
        listener.listen(1)
        session = ProxySession(policy.allowed_hosts, self._config.connect_timeout, token, self._record)
        self._tasks.start_soon(serve_from_inside, listener, session)
        return _Door(folder, session)

    def _drop(self, held: _Held) -> None:
        self._ghosts.let_go(held.ghosts)
        self._close_door(held.door)
        if held.group is not None:
            self.groups.remove_now(held.group)

    def _close_door(self, door: _Door | None) -> None:
        if door is not None:
            door.session.stop()
            self._folders.remove(door.folder)

    def _assemble(
        self,
        token: str,
        ready: Ready,
        plan: Plan,
        door: _Door | None,
        group: Group | None,
        argv: Sequence[str],
        policy: Policy,
        cwd: str,
        env: Mapping[str, str],
        enforcement: Enforcement,
    ) -> Confined:
        shape = replace(ready.shape, own_network=ready.shape.own_network and policy.network != "full")
        given = arguments(
            plan,
            shape,
            launcher=ready.launcher.files[-1],
            size=policy.limits.temporary_size,
            socket=f"{door.folder}/proxy" if door else None,
        )
        if door is not None:
            env = {**env, **proxy_variables(PROXY_PORT)}
        message = self._inner.message(ready, shape, policy, cwd, env, self.groups.limits)
        inside = (*ready.launcher.inside(f"{LAUNCHER_FOLDER}/confine"), str(MESSAGE), "--")
        outside, outer = outer_launcher(ready.launcher, group)
        head = (*outside, ready.runner, "--args", str(_ARGUMENTS), "--", *inside)
        listed = os.fsencode("\0".join(given.options)) + b"\0"
        return Confined(
            token=token,
            argv=(*head, *argv),
            payload=len(head),
            inputs=(
                InheritedBytes(number=MESSAGE, data=ready.launcher.code + message),
                InheritedBytes(number=_ARGUMENTS, data=listed),
                *outer,
            ),
            paths=given.paths,
            status=STATUS,
            temporary="/tmp",
            enforcement=enforcement,
            policy=policy.digest,
        )
