"""The policy of one call, everything decided."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from seam.kernel import Value
from seam.sandbox_def._limits import Limits
from seam.sandbox_def._modes import Mode, Network
from seam.sandbox_def._network import AllowedHost
from seam.sandbox_def._text import WorldPath
from seam.sandbox_def._widening import Widening

PathAccess = Literal["none", "read", "write"]
"""What a command may do below a path: not even read, read, or read and write."""


class PathRule(Value):
    """One path and what holds at and below it.

    Attributes:
        path: canonical, of the world.
        reason: why the rule exists, for a person (`git runs these programs`).
        source: where it comes from: `default`, `deployment`, `session` or `workspace`.
        given: the path as it was written, where that differs (a symlink, `~`).
    """

    path: WorldPath
    reason: str
    source: str = "default"
    given: str | None = None


class Ruling(Value):
    """What a policy says about one path, and the rule that says it (`None`: the mode itself)."""

    access: PathAccess
    rule: str
    path: WorldPath | None = None


class Policy(Value):
    """What one call may do. Inert, frozen, JSON-serialisable; made by `SandboxPolicy.resolve` alone.

    The most specific rule wins: of all rules whose path is the path in question or an ancestor of it, the
    longest. On the same path `hidden` beats `protected` beats `writable` beats `readable`.

    Attributes:
        mode: see `Mode`. Where it is `full-access` the path lists and the network are void.
        network: see `Network`.
        allowed_hosts: the allow-list, empty unless `network` is `allow-list`.
        writable: roots that may be written; empty in `read-only`.
        readable: paths opened again for reading below a hidden one.
        protected: paths that stay read-only below a writable root, whether they exist or not.
        hidden: paths that may not even be read.
        limits: see `Limits`.
        forbidden_gaps: gap codes that must be absent, else the runtime refuses.
        partial: whether a runtime that enforces only a part may run the command at all.
        widened: the request that led to this mode, for this call alone; `None` when none did.
        decided_by: what chose the mode: `grant`, `session`, `deployment` or `widening`.
    """

    mode: Mode
    network: Network = "none"
    allowed_hosts: tuple[AllowedHost, ...] = ()
    writable: tuple[PathRule, ...] = ()
    readable: tuple[PathRule, ...] = ()
    protected: tuple[PathRule, ...] = ()
    hidden: tuple[PathRule, ...] = ()
    limits: Limits = Limits()
    forbidden_gaps: tuple[str, ...] = ()
    partial: bool = True
    widened: Widening | None = None
    decided_by: Literal["grant", "session", "deployment", "widening"] = "deployment"

    @property
    def confines(self) -> bool:
        """Whether a runtime is needed: everything but `full-access`."""
        return self.mode != "full-access"

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Policy:
        """As `BaseModel.model_copy`, without what was derived from the fields of the original."""
        copied = super().model_copy(update=update, deep=deep)
        for name in ("digest", "_rulings"):
            vars(copied).pop(name, None)
        return copied

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the canonical JSON form."""
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def ruling(self, path: str) -> Ruling:
        """What holds for an absolute, canonical `path`. Purely lexical: symlinks are the caller's business."""
        if not self.confines:
            return Ruling(access="write", rule=f"mode {self.mode}")
        current = path
        while current:
            ruling = self._rulings.get(current)
            if ruling is not None:
                return ruling
            current = current.rpartition("/")[0]
        return self._rulings.get("/") or Ruling(access="read", rule=f"mode {self.mode}")

    def access_of(self, path: str) -> PathAccess:
        """`ruling(path).access`."""
        return self.ruling(path).access

    @cached_property
    def _rulings(self) -> dict[str, Ruling]:
        """The strongest rule of each path."""
        return {
            rule.path: Ruling(access=access, rule=f"{name}: {rule.reason}", path=rule.path)
            for name, access, rules in self._ranked()
            for rule in rules
        }

    def _ranked(self) -> tuple[tuple[str, PathAccess, tuple[PathRule, ...]], ...]:
        # Weakest first: on the same path a later one replaces an earlier one.
        return (
            ("readable", "read", self.readable),
            ("writable", "write", self.writable),
            ("protected", "read", self.protected),
            ("hidden", "none", self.hidden),
        )
