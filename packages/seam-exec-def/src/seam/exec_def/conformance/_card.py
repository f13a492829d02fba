"""The behaviour card: what was examined, what was kept, what was broken, what is lacking."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

Verdict = Literal["kept", "broken", "lacking"]


class CheckOutcome(BaseModel):
    """What one check found."""

    check: str
    backend: str
    verdict: Verdict
    detail: str = ""
    """Why it is broken, or which capability is lacking."""


class Card(BaseModel):
    """What an implementer does, for programs; filled while checks run."""

    subject: str
    contract: str = "seam-exec-def"
    outcomes: list[CheckOutcome] = Field(default_factory=list[CheckOutcome])

    def add(self, check: str, backend: str, verdict: Verdict, detail: str = "") -> None:
        """Note an outcome; a later one of the same check on the same event loop replaces it."""
        self.outcomes = [one for one in self.outcomes if (one.check, one.backend) != (check, backend)]
        self.outcomes.append(CheckOutcome(check=check, backend=backend, verdict=verdict, detail=detail))

    @property
    def broken(self) -> list[str]:
        """Names of the checks that were not kept."""
        return sorted({one.check for one in self.outcomes if one.verdict == "broken"})

    def write(self, path: Path) -> None:
        """Write the card as JSON, in a stable order."""
        ordered = sorted(self.outcomes, key=lambda one: (one.check, one.backend))
        path.write_text(
            self.model_copy(update={"outcomes": ordered}).model_dump_json(indent=1) + "\n", "utf-8"
        )
