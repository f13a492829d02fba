"""What a deployment asks for, with every plugin loaded: what prepare works from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seam.host._outcomes import RowProblem
from seam.host._slots import RowPlugin
from seam.tools_def import Agent


@dataclass(frozen=True)
class Blueprint:
    """The generation rows of a deployment.

    Attributes:
        agents: as declared, workspaces absolute.
        base: rows for everybody, in listing order.
        realms: by agent, the rows that replace an implementer for that agent only.
        left_out: optional rows whose plugin could not be found or loaded.
        mixed: why confined and unconfined tools stand beside each other, or None.
    """

    agents: tuple[Agent, ...]
    base: tuple[RowPlugin, ...]
    realms: Mapping[str, tuple[RowPlugin, ...]] = field(default_factory=dict[str, tuple[RowPlugin, ...]])
    left_out: tuple[RowProblem, ...] = ()
    mixed: str | None = None
