"""The behaviour card: an implementer against this contract, for programs to read."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

Finding = Literal["kept", "broken", "lacking", "overridden"]


class Line(BaseModel):
    """What one check found on one event loop."""

    check: str
    event_loop: str
    finding: Finding
    why: str = Field(
        default="", description="What was broken, which capability is lacking, or the override's reason."
    )


class Card(BaseModel):
    """Filled while the checks run."""

    contract: Literal["seam-subprocess-def"] = "seam-subprocess-def"
    implementer: str
    capabilities: dict[str, bool]
    lines: dict[str, Line] = Field(default_factory=dict[str, Line])

    def note(self, line: Line) -> None:
        """Keep the latest finding of each check on each event loop."""
        self.lines[f"{line.check}[{line.event_loop}]"] = line

    def names(self, finding: Finding) -> set[str]:
        """The checks with that finding on at least one event loop."""
        return {line.check for line in self.lines.values() if line.finding == finding}

    def write(self, path: Path) -> None:
        """Write the card as JSON, in a stable order."""
        ordered = self.model_copy(update={"lines": dict(sorted(self.lines.items()))})
        path.write_text(ordered.model_dump_json(indent=2) + "\n", "utf-8")
