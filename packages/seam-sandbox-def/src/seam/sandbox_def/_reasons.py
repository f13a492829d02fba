"""Why a runtime is not usable, and what to do about it."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

from seam.kernel import Value


class Reason(StrEnum):
    """Every cause for which a probe says "not usable"."""

    NO_BINARY = "no-binary"
    UNTRUSTED_BINARY = "untrusted-binary"
    UNSUPPORTED_BINARY = "unsupported-binary"
    USER_NAMESPACES_OFF = "user-namespaces-off"
    USER_NAMESPACES_EXHAUSTED = "user-namespaces-exhausted"
    APPARMOR = "apparmor"
    OUTER_SECCOMP = "outer-seccomp"
    MASKED_PROC = "masked-proc"
    NETWORK_SETUP = "network-setup"
    NO_LANDLOCK = "no-landlock"
    LANDLOCK_DISABLED = "landlock-disabled"
    NO_SECCOMP = "no-seccomp"
    NO_PYTHON = "no-python"
    UNSUPPORTED_PLATFORM = "unsupported-platform"
    NO_SPACE = "no-space"
    PROBE_ESCAPED = "probe-escaped"
    PROBE_LIED = "probe-lied"
    PROBE_HUNG = "probe-hung"
    PROBE_FAILED = "probe-failed"
    PARTIAL_FORBIDDEN = "partial-forbidden"
    GAP_FORBIDDEN = "gap-forbidden"
    NO_RUNTIME = "no-runtime"


REMEDIES: MappingProxyType[Reason, str] = MappingProxyType(
    {
        Reason.NO_BINARY: "install bubblewrap (apt install bubblewrap), or pip install 'seam-sandbox-bwrap[binary]'",
        Reason.UNTRUSTED_BINARY: "use a runner that only its owner can write and that lies outside every writable root",
        Reason.UNSUPPORTED_BINARY: "install bubblewrap 0.6 or newer, or pip install 'seam-sandbox-bwrap[binary]'",
        Reason.USER_NAMESPACES_OFF: "set kernel.unprivileged_userns_clone=1, or use the landlock runtime",
        Reason.USER_NAMESPACES_EXHAUSTED: "raise user.max_user_namespaces, or end programs that hold namespaces",
        Reason.APPARMOR: "install the distribution's AppArmor profile for /usr/bin/bwrap, or set "
        "kernel.apparmor_restrict_unprivileged_userns=0",
        Reason.OUTER_SECCOMP: "let the outer container permit unshare, mount and pivot_root, or use the landlock runtime",
        Reason.MASKED_PROC: "set proc = 'host' to accept the host's /proc, or unmask /proc in the outer container",
        Reason.NETWORK_SETUP: "permit loopback set-up in new network namespaces, or set network_isolation = 'seccomp'",
        Reason.NO_LANDLOCK: "use a kernel of version 5.13 or newer built with CONFIG_SECURITY_LANDLOCK",
        Reason.LANDLOCK_DISABLED: "add landlock to the kernel's lsm= parameter",
        Reason.NO_SECCOMP: "use a kernel built with CONFIG_SECCOMP_FILTER",
        Reason.NO_PYTHON: "install Python 3.11 or newer in this world, or install the platform wheel with its launcher",
        Reason.UNSUPPORTED_PLATFORM: "use Linux on x86-64 or arm64; no other platform has a runtime",
        Reason.NO_SPACE: "free some space for temporary files",
        Reason.PROBE_ESCAPED: "do not use this runner: a confined test program broke out; replace the runner",
        Reason.PROBE_LIED: "do not use this runner: it reports success without running anything; replace it",
        Reason.PROBE_HUNG: "see why the runner does not answer within probe_timeout",
        Reason.PROBE_FAILED: "see the runner's own message",
        Reason.PARTIAL_FORBIDDEN: "set partial = true on the sandbox policy, or use a runtime that enforces everything",
        Reason.GAP_FORBIDDEN: "use a runtime without this gap, or take it from forbidden_gaps",
        Reason.NO_RUNTIME: "add [implement.sandbox_runtime] to the deployment",
    }
)
"""What to do about each reason, a phrase that completes "To fix: "."""


class Finding(Value):
    """One reason with what was seen, as data for errors and for `seam doctor`."""

    reason: Reason
    detail: str = ""

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return REMEDIES[self.reason]

    def __str__(self) -> str:
        seen = f" ({self.detail})" if self.detail else ""
        return f"{self.reason}{seen}; {self.remedy}"
