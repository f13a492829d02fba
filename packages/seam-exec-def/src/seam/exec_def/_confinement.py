"""What a result says about containment (nothing survives) and confinement (nothing is reached)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seam.exec_def._frozen import Frozen

SandboxMode = Literal["read-only", "workspace-write", "full-access"]
"""How much of the world a command may change. An executor that does not confine runs everything as
`full-access`."""


class SandboxOverride(Frozen):
    """A wish for a strictly wider mode, for one call."""

    mode: SandboxMode
    justification: str = Field(min_length=1)
    """Why, for the person who decides."""


class Gap(Frozen):
    """Something that was promised and is not enforced, by name."""

    name: str
    """Stable identifier, for instance `udp` or `detached-descendants`."""
    detail: str = ""


class Containment(Frozen):
    """How completely the executor can find and end what a command starts."""

    level: str
    """Mechanism, for instance `launcher`, `cgroup`, `scan`."""
    complete: bool
    """Whether no process of the command can get away."""
    gaps: tuple[Gap, ...] = ()


class Isolation(Frozen):
    """The confinement that a spec asks for. It is part of the spec's digest."""

    mode: SandboxMode
    policy: str | None = None
    """Canonical JSON of the whole resolved policy; `None` where nothing confines."""
    widened_by: SandboxOverride | None = None
    """The override that led here; `None` where the executor does not confine, which satisfies every override
    already."""


class Denial(Frozen):
    """The confinement refused something."""

    target: str
    """Path or address."""
    rule: str
    certainty: Literal["confirmed", "suspected"]


class SandboxFacts(Frozen):
    """The confinement under which a command really ran."""

    mode: SandboxMode
    runtime: str | None = None
    """Mechanism, for instance `bwrap`; `None` where nothing confined."""
    enforcement: Literal["full", "partial", "none"] = "none"
    gaps: tuple[Gap, ...] = ()
    denials: tuple[Denial, ...] = ()
