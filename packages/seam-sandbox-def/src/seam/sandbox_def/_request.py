"""What a policy is asked."""

from __future__ import annotations

from seam.kernel import Value
from seam.sandbox_def._modes import Mode
from seam.sandbox_def._policy import Policy
from seam.sandbox_def._text import WorldPath
from seam.sandbox_def._widening import Widening


class PolicyRequest(Value):
    """The circumstances of one call. Every optional field may be left out; the policy decides.

    Attributes:
        workspace: the agent's workspace, a root that `workspace-write` may write. `None`: only the roots of
            the deployment.
        workdir: where the command will run; never widens anything, must not be hidden.
        granted: mode that a grant of a person gives to this session, strongest.
        session: mode that the session asked for, when no grant says otherwise. It can narrow freely and is
            capped by what the deployment permits.
        widening: an approved request for a wider mode, for this call alone.
        parent: the policy of whoever starts this call from inside a sandbox; the result is never wider.
    """

    workspace: WorldPath | None = None
    workdir: WorldPath | None = None
    granted: Mode | None = None
    session: Mode | None = None
    widening: Widening | None = None
    parent: Policy | None = None
