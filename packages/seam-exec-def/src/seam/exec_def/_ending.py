"""How a command came to its end, and what it left."""

from __future__ import annotations

from typing import Literal

from seam.kernel import Value

Cause = Literal["exited", "signalled", "timed_out", "idle", "aborted", "lost"]
"""Why a command is over.

`exited`: it ended with an exit code. `signalled`: a signal ended it that the executor did not send. `timed_out`, `idle`,
`aborted`: the executor ended it, for that reason. `lost`: what became of the command is unknown, for instance because the
world was lost.
"""

EndedBy = Literal[
    "command", "timeout", "idle", "abort", "cancellation", "owner", "disposal", "guard", "nobody", "unknown"
]
"""Who ended a command.

`command`: it came to its own end. `timeout`, `idle`, `abort`, `cancellation`: the executor, for that reason. `owner`: whoever
holds the process called `terminate`. `disposal`: the executor is being disposed. `guard`: the executor gave up on a runtime
that did not keep its own bounds. `nobody`: it was handed over alive. `unknown`: a signal that the executor did not send,
and the system does not say whose; or the world was lost.
"""

Fate = Literal["ended", "kept", "escaped"]
"""`escaped`: known to be alive, and out of reach of this level of containment."""

SurvivorPolicy = Literal["end", "keep"]
"""What happens to processes that are still alive when the command itself is over and its output is drained."""


class ProcessRef(Value):
    """A process of the world, as it was seen."""

    pid: int
    name: str


class Survivor(Value):
    """A process of the command that was still alive when the command itself was over."""

    pid: int
    name: str
    fate: Fate


class Drain(Value):
    """How reading the output came to its end."""

    clean: bool
    """Every stream reached its end. Otherwise reading stopped after the configured bound."""
    streams: tuple[str, ...] = ()
    """The streams that somebody still held open then."""
    held_by: tuple[ProcessRef, ...] = ()
    """Processes that were alive then; one or more of them held the streams."""


class TimeSplit(Value):
    """Where the time went, in seconds: before the start was tried, starting, running, reading the rest."""

    queue: float
    spawn: float
    run: float
    drain: float


class Usage(Value):
    """What the command used, children that it waited for included; `None` where the system did not say."""

    cpu_user: float | None = None
    """Seconds."""
    cpu_system: float | None = None
    """Seconds."""
    peak_memory: int | None = None
    """Bytes of resident memory of the largest single process."""


class HookFailure(Value):
    """A callable that a caller or a deployment supplied raised; the command took its ordinary course."""

    hook: str
    error: str
