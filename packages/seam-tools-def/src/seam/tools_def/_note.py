"""A note for the prompt, as a contribution."""

from __future__ import annotations

from seam.kernel import Value


class PromptNote(Value):
    """Text that a plugin offers to `turn.instructions()`: `ctx.contribute(PromptNote(text=...))`."""

    text: str
