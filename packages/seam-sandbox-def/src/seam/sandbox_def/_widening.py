"""Asking for a wider mode, for one call."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from seam.kernel import Value
from seam.sandbox_def._modes import Mode


class Widening(Value):
    """A request to run one call in a wider mode. It does nothing by itself: it travels through approval and
    then in the request to the policy, which may still forbid it.

    Attributes:
        mode: the wider mode that is asked for.
        why: the justification that the person who approves reads, 1 to 1000 characters.
    """

    mode: Mode
    why: Annotated[str, Field(min_length=1, max_length=1000)]
