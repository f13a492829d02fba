"""What `seam doctor --sandbox` shows."""

from __future__ import annotations

from seam.kernel import Value
from seam.sandbox_def._enforcement import Enforcement
from seam.sandbox_def._limits import Limits
from seam.sandbox_def._modes import Mode, Network
from seam.sandbox_def._policy import PathRule
from seam.sandbox_def._reasons import Finding


class ProbeResult(Value):
    """What one runtime found by trying.

    Attributes:
        runtime: mechanism (`bwrap`).
        usable: whether it can confine here.
        version: of the runner, empty when there is none.
        runner: path of the runner, empty when there is none.
        findings: every reason with its remedy; may be there although `usable` (a lesser way was taken).
        features: what it can do here (`bind-fd`, `landlock-7`, `static-launcher`, `cgroup-pids`, ...).
        seconds: how long the probe took; a cached one keeps the first figure.
    """

    runtime: str
    usable: bool
    version: str = ""
    runner: str = ""
    findings: tuple[Finding, ...] = ()
    features: tuple[str, ...] = ()
    seconds: float = 0.0


class ModeReport(Value):
    """What would be enforced in one mode with one network mode."""

    mode: Mode
    network: Network
    enforcement: Enforcement


class RuntimeReport(Value):
    """A runtime's page of the report: probes of itself and of what it falls back on, and each mode."""

    probes: tuple[ProbeResult, ...]
    modes: tuple[ModeReport, ...]


class PolicyReport(Value):
    """A policy's page of the report.

    Attributes:
        mode: default mode.
        ceiling: the widest mode that anybody can get.
        network: default network mode.
        writable, protected, hidden: lists with reasons, as they would hold for the workspace given.
        limits: default limits.
    """

    mode: Mode
    ceiling: Mode
    network: Network
    writable: tuple[PathRule, ...]
    protected: tuple[PathRule, ...]
    hidden: tuple[PathRule, ...]
    limits: Limits
