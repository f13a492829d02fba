"""What a spec asks of the sandbox, and what a result says about containment and confinement.

Containment: nothing that a command starts gets away. Confinement: it reaches nothing that it must not; the words
for that are seam-sandbox-def's.
"""

from __future__ import annotations

from seam.kernel import Value
from seam.sandbox_def import Denial, Enforcement, Mode, Policy


class Containment(Value):
    """How completely the executor can find and end what a command starts."""

    level: str
    """The runtime's name for the mechanism, for instance `launcher`."""
    whole_tree: bool
    """No descendant can get away, not by `setsid`, not by a double fork."""
    host_death: bool
    """The tree is gone within two seconds after the host was killed with SIGKILL."""
    gaps: tuple[str, ...] = ()
    """What this level cannot promise, one short sentence each."""


class Isolation(Value):
    """The confinement that a spec asks for, wholly decided; part of the spec's digest."""

    mode: Mode
    """`full-access` where the executor does not confine."""
    policy: Policy | None = None
    """`None` where the executor does not confine."""
    already_satisfied: bool = False
    """A wider mode was asked for and needs nobody's consent, since the executor does not confine."""


class SandboxFacts(Value):
    """The confinement under which a command really ran."""

    mode: Mode
    enforcement: Enforcement | None = None
    """What was enforced and by what; `None` where nothing confined."""
    confined: str | None = None
    """Id of this confined start, by which recorded decisions of its network name it; `None` where nothing confined."""
    denials: tuple[Denial, ...] = ()
    widening_satisfied: bool = False
    """As in the isolation that was asked for."""
