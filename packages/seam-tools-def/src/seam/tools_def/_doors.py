"""What a door tells its process."""

from __future__ import annotations

from seam.kernel import Observe, Value


class DoorClosed(Value):
    """A door will let nothing in any more, since its other side is gone (standard input at its end, a listener that failed).

    Attributes:
        door: the row's name.
        reason: a sentence.
        failed: whether it ended by an error.
    """

    door: str
    reason: str
    failed: bool = False


door_closed: Observe[DoorClosed] = Observe("doors.closed")
"""Told once per door; a process that only serves may end then."""
