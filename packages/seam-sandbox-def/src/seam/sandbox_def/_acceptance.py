"""What any runtime refuses before it prepares anything, and the policies that its report is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from seam.sandbox_def._enforcement import Enforcement
from seam.sandbox_def._modes import MODES, NETWORKS
from seam.sandbox_def._policy import Policy
from seam.sandbox_def._reasons import Finding, Reason
from seam.sandbox_def._report import ModeReport


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


def mode_reports(enforcement: Callable[[Policy], Enforcement]) -> tuple[ModeReport, ...]:
    """What would be enforced in each mode that confines, with each network mode.

    Args:
        enforcement: what the runtime enforces of one policy here.
    """
    return tuple(
        ModeReport(mode=mode, network=network, enforcement=enforcement(Policy(mode=mode, network=network)))
        for mode in MODES
        for network in NETWORKS
        if mode != "full-access"
    )
