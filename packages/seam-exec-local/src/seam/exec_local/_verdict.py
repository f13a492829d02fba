"""Who wants a command to end, and why: the first one counts."""

from __future__ import annotations

from seam.exec_def import Cause, EndedBy

_CAUSES: dict[EndedBy, Cause] = {"timeout": "timed_out", "idle": "idle", "guard": "timed_out"}


class Verdict:
    """Nobody, or the first who wanted the end."""

    __slots__ = ("ender", "limit_passed", "reason")

    def __init__(self) -> None:
        self.ender: EndedBy | None = None
        self.reason: str | None = None
        self.limit_passed = False
        """Whether the time limit passed while the command ran."""

    def blame(self, ender: EndedBy, reason: str | None = None) -> None:
        """Say who wants the end."""
        if self.ender is None:
            self.ender = ender
            self.reason = reason

    def lift(self) -> None:
        """Nobody wants the end any more: the command has a new owner."""
        self.ender = self.reason = None
        self.limit_passed = False

    @property
    def cause(self) -> Cause:
        """Why the command is over, if it was ended by whoever wanted that."""
        return _CAUSES.get(self.ender, "aborted") if self.ender else "lost"
