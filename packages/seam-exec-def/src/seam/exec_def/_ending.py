"""How a command came to its end, and what it left."""

from __future__ import annotations

from typing import Literal

from seam.exec_def._frozen import Frozen

Cause = Literal["exited", "signalled", "timed_out", "idle", "aborted", "lost"]
"""Why a command is over.

`exited`: it ended with an exit code. `signalled`: a signal ended it that the executor did not send.
`timed_out`, `idle`, `aborted`: the executor ended it, for that reason. `lost`: the world was lost; what
became of the command is unknown.
"""

EndedBy = Literal["command", "outsider", "timeout", "idle", "abort", "owner", "disposal", "guard", "nobody"]
"""Who ended a command.

`command`: it came to its own end (a signal that it sent itself included, where that is known). `outsider`:
something outside of the executor, for instance the kernel's out-of-memory killer or another process's `kill`.
`timeout`, `idle`, `abort`: the executor, for that limit or wish. `owner`: whoever holds the process called
`terminate`. `disposal`: the executor is being disposed. `guard`: the executor's outer guard gave up on a
runtime that did not keep its own bounds. `nobody`: it was handed over alive, or the world was lost.
"""

Fate = Literal["ended", "kept"]
SurvivorPolicy = Literal["end", "keep"]
"""What happens to processes that are still alive when the command itself is over and its output is
drained."""


class ProcessRef(Frozen):
    """A process of the world, as it was seen."""

    pid: int
    name: str


class Survivor(Frozen):
    """A process of the command that was still alive when the command itself was over."""

    pid: int
    name: str
    fate: Fate


class Drain(Frozen):
    """How reading the output came to its end.

    `clean`: every stream reached its end. Otherwise reading stopped after the configured bound, because
    somebody kept a stream open; `held_by` names the processes that are known.
    """

    clean: bool
    held_by: tuple[ProcessRef, ...] = ()


class TimeSplit(Frozen):
    """Where the time went, in seconds: waiting for a slot, starting, running, reading the rest."""

    queue: float
    spawn: float
    run: float
    drain: float


class Usage(Frozen):
    """What the command used, children that it waited for included; `None` where the system did not say.

    `cpu_user` and `cpu_system` are seconds, `peak_memory` is bytes of resident memory of the largest process.
    """

    cpu_user: float | None = None
    cpu_system: float | None = None
    peak_memory: int | None = None


class HookFailure(Frozen):
    """A callable that a caller or a deployment supplied raised; the command took its ordinary course."""

    hook: str
    error: str
