"""What is really enforced, as a fact."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from seam.kernel import Value
from seam.sandbox_def._gaps import Gap


class Enforcement(Value):
    """How much of a policy a runtime enforces for one command.

    Attributes:
        level: `full` only when nothing that the policy promises is missing.
        runtime: mechanism and version, `bwrap 0.11.0`.
        layers: the mechanisms at work, outermost first (`namespaces`, `landlock-7`, `seccomp`, `cgroup`, ...).
        gaps: what is missing; empty exactly when `level` is `full`.
    """

    level: Literal["full", "partial"]
    runtime: str
    layers: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()

    @model_validator(mode="after")
    def _honest(self) -> Enforcement:
        if (self.level == "full") == bool(self.gaps):
            raise ValueError(f"enforcement {self.level!r} contradicts {len(self.gaps)} gaps; full means none")
        return self

    @staticmethod
    def of(runtime: str, layers: tuple[str, ...], gaps: tuple[Gap, ...]) -> Enforcement:
        """The level follows from the gaps; gaps are kept in the order of their names."""
        ordered = tuple(sorted(gaps, key=lambda gap: gap.code))
        return Enforcement(
            level="partial" if ordered else "full", runtime=runtime, layers=layers, gaps=ordered
        )
