"""What the bubblewrap runtime leaves open, for one policy on this machine."""

from __future__ import annotations

from seam.sandbox_bwrap._profile import MOST_BOUND_BY_DESCRIPTOR, Shape
from seam.sandbox_def import Gap, GapCode, Policy
from seam.sandbox_landlock import limit_gaps


def bwrap_gaps(policy: Policy, shape: Shape, groups: frozenset[str]) -> tuple[Gap, ...]:
    """Every gap of `policy`.

    Args:
        policy: one that confines.
        shape: what this machine permits.
        groups: the limits that a cgroup enforces here (`processes`, `memory`).
    """
    found: list[Gap] = []
    if not shape.private_proc:
        text = "the host's /proc is shown, with the processes outside and their arguments"
        found.append(
            Gap(code=GapCode.HOST_PROC, explanation=text, remedy="unmask /proc in the outer container")
        )
    by_path = len(policy.writable) - (MOST_BOUND_BY_DESCRIPTOR if shape.bind_fd else 0)
    if by_path > 0:
        text = f"{by_path} roots are followed if they are replaced by a symlink while a command is started"
        found.append(
            Gap(code=GapCode.WORKSPACE_SWAP, explanation=text, remedy="use a bwrap that knows --bind-fd")
        )
    return (*found, *limit_gaps(policy, groups, root=shape.root))
