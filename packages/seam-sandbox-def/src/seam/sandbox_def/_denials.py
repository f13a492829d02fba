"""What the sandbox refused, as facts."""

from __future__ import annotations

from typing import Literal

from seam.kernel import Value
from seam.sandbox_def._text import Argument

Operation = Literal["read", "write", "execute", "connect", "listen", "signal", "syscall"]


class Denial(Value):
    """One thing that a command was not allowed to do.

    Attributes:
        operation: what was tried.
        target: the path or `host:port` in question.
        rule: the rule of the policy that refuses it, in the policy's words.
        certainty: `confirmed` when a layer reported it (the proxy, the kernel) or when policy, asked again,
            refuses exactly this operation on this target and the target was named by the failing program;
            `suspected` when the operation or the target had to be guessed.
        evidence: where the sign came from (`stderr`, `proxy`, `status`), with the line it was read from.
    """

    operation: Operation
    target: Argument
    rule: str
    certainty: Literal["confirmed", "suspected"]
    evidence: Argument = ""
