"""What a plugin wants the operator to know, as a contribution."""

from __future__ import annotations

from seam.kernel import Value


class Diagnostic(Value):
    """Something that is wrong and does not keep the rest from working: `ctx.contribute(Diagnostic(...))`. Shown by plan and doctor.

    Attributes:
        place: the thing, with file and line where there is one.
        text: what is wrong, and what to do.
    """

    place: str
    text: str
