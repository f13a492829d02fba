"""The policy service."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from seam.sandbox_def import (
    InvalidPolicy,
    Mode,
    ModeForbidden,
    PathRule,
    Policy,
    PolicyReport,
    PolicyRequest,
    SandboxPolicy,
    Widening,
    WideningRefused,
    is_wider,
)
from seam.sandbox_policy._canonical import BadPath, Places, writable_root
from seam.sandbox_policy._config import PolicyConfig, absolute_only
from seam.sandbox_policy._links import refuse_hard_links
from seam.sandbox_policy._lists import hidden_rules, protected_rules, readable_rules, writable_rules
from seam.sandbox_policy._memory import Memory
from seam.sandbox_policy._narrow import narrowed
from seam.sandbox_policy._scene import Scene

_Decider = Literal["grant", "session", "deployment", "widening"]


@dataclass(frozen=True)
class _Decided:
    """Everything in a policy that can differ from call to call. Rules are the same objects for the same paths, so
    comparing takes no time."""

    mode: Mode
    decided_by: _Decider
    widened: Widening | None
    writable: tuple[PathRule, ...]
    readable: tuple[PathRule, ...]
    protected: tuple[PathRule, ...]
    hidden: tuple[PathRule, ...]


class ConfiguredPolicy(SandboxPolicy):
    """Resolves policies from one configuration. Looks at the file system of this machine, changes nothing.

    Args:
        config: what the deployment says.
        home: the folder that `~` stands for.
    """

    def __init__(self, config: PolicyConfig, home: str) -> None:
        self._config = config
        self._home = os.path.realpath(home)
        self._memory = Memory()
        self._last: tuple[_Decided, Policy] | None = None

    def resolve(self, request: PolicyRequest) -> Policy:
        """See `SandboxPolicy.resolve`."""
        mode, decided_by = self._mode(request)
        if mode == "full-access":
            policy = Policy(mode=mode, network="full", widened=request.widening, decided_by=decided_by)
        else:
            policy = self._confining(mode, decided_by, request)
        return narrowed(policy, request.parent) if request.parent is not None else policy

    def report(self, workspace: str | None = None) -> PolicyReport:
        """See `SandboxPolicy.report`."""
        if workspace is None:
            absolute = absolute_only(self._config)
            if absolute != self._config:
                return ConfiguredPolicy(absolute, self._home).report()
        config = self._config
        shown: Mode = "workspace-write" if config.mode == "full-access" else config.mode
        policy = self._confining(shown, "deployment", PolicyRequest(workspace=workspace))
        return PolicyReport(
            mode=config.mode,
            ceiling=config.ceiling,
            network=config.network,
            writable=policy.writable,
            protected=policy.protected,
            hidden=policy.hidden,
            limits=config.limits,
        )

    def _mode(self, request: PolicyRequest) -> tuple[Mode, _Decider]:
        mode, decided_by = self._standing_mode(request)
        if request.widening is None:
            return mode, decided_by
        asked = request.widening.mode
        if not is_wider(asked, than=mode):
            raise WideningRefused(
                f"The call asks for {asked!r} and already runs in {mode!r}; ask only for a wider mode.",
                asked=asked,
                current=mode,
                ceiling=self._config.ceiling,
            )
        if is_wider(asked, than=self._config.ceiling):
            raise WideningRefused(
                f"The policy forbids {asked!r}, approved or not: the ceiling of this deployment is "
                f"{self._config.ceiling!r}. Do it within {mode!r}, or ask the operator to change the deployment.",
                asked=asked,
                current=mode,
                ceiling=self._config.ceiling,
            )
        return asked, "widening"

    def _standing_mode(self, request: PolicyRequest) -> tuple[Mode, _Decider]:
        config = self._config
        if request.granted is not None:
            return self._permitted(request.granted, config.ceiling), "grant"
        if request.session is not None:
            return self._permitted(request.session, config.session_ceiling or config.mode), "session"
        return config.mode, "deployment"

    @staticmethod
    def _permitted(asked: Mode, ceiling: Mode) -> Mode:
        if is_wider(asked, than=ceiling):
            raise ModeForbidden(
                f"The mode {asked!r} is forbidden here; the widest that can be chosen is {ceiling!r}.",
                asked=asked,
                ceiling=ceiling,
            )
        return asked

    def _confining(self, mode: Mode, decided_by: _Decider, request: PolicyRequest) -> Policy:
        config = self._config
        scene = Scene(Places(self._home, self._workspace(request)), self._memory)
        roots = writable_rules(config, scene, request.workspace)
        # In read-only the roots are merely seen, which matters below a hidden folder (a checkout in /tmp).
        writable, seen = (roots, ()) if mode == "workspace-write" else ((), roots)
        protected = protected_rules(config, scene, writable)
        hidden = hidden_rules(config, scene)
        refuse_hard_links(protected, "protected", scene.look)
        refuse_hard_links(hidden, "hidden", scene.look)
        readable = readable_rules(config, scene) + seen
        policy = self._made(
            _Decided(mode, decided_by, request.widening, writable, readable, protected, hidden)
        )
        self._check_workdir(policy, request, scene)
        return policy

    def _made(self, decided: _Decided) -> Policy:
        """The policy of these rules: the last one again, where the machine looks as it did then."""
        if self._last is None or self._last[0] != decided:
            config = self._config
            policy = Policy(
                mode=decided.mode,
                network=config.network,
                allowed_hosts=config.allow,
                writable=decided.writable,
                readable=decided.readable,
                protected=decided.protected,
                hidden=decided.hidden,
                limits=config.limits,
                partial=config.partial,
                forbidden_gaps=config.forbidden_gaps,
                widened=decided.widened,
                decided_by=decided.decided_by,
            )
            self._check(policy)
            self._last = decided, policy
        return self._last[1]

    @staticmethod
    def _workspace(request: PolicyRequest) -> str | None:
        if request.workspace is None:
            return None
        try:
            return writable_root(request.workspace)
        except BadPath as error:
            raise InvalidPolicy((("workspace", str(error)),)) from error

    @staticmethod
    def _check(policy: Policy) -> None:
        problems = tuple(
            ("writable", f"{rule.given or rule.path!r} is hidden itself; take it from one of the lists")
            for rule in policy.writable + policy.readable
            if policy.access_of(rule.path) == "none"
        )
        if problems:
            raise InvalidPolicy(problems)

    @staticmethod
    def _check_workdir(policy: Policy, request: PolicyRequest, scene: Scene) -> None:
        if request.workdir is None:
            return
        workdir = scene.look.canonical(scene.expand(request.workdir))
        ruling = policy.ruling(workdir)
        if ruling.access == "none":
            raise InvalidPolicy((("workdir", f"{workdir!r} may not be read ({ruling.rule})"),))
