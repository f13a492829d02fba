"""How a process ended: independent facts in independent fields, nothing inferred."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from seam.kernel import Value


class Containment(Value):
    """How well a tree of processes is held together, as a fact of this start."""

    level: str = Field(
        description="The implementer's name for the mechanism, such as `launcher` or `launcher+cgroup`."
    )
    whole_tree: bool = Field(description="No descendant can leave: not by setsid, not by a double fork.")
    host_death: bool = Field(
        description="The tree is gone within two seconds after the host was killed with SIGKILL."
    )
    gaps: tuple[str, ...] = Field(description="What this level cannot promise, one short sentence each.")


class Survivor(Value):
    """A descendant that was alive when the leader had exited and the drain was over."""

    pid: int
    name: str = Field(description="The kernel's name of the process (comm), at most 15 bytes.")
    fate: Literal["ended", "kept", "escaped"] = Field(
        description="`escaped`: known to be alive and out of reach of this level."
    )


class Drain(Value):
    """How reading the collected streams ended."""

    state: Literal["clean", "held"] = Field(description="`clean`: every stream reached its end by itself.")
    streams: tuple[str, ...] = Field(description="The streams that were still held open, by name or number.")
    seconds: float = Field(description="From the leader's exit to the end of reading.")


class Usage(Value):
    """What the tree consumed, as far as it was waited for (getrusage(2))."""

    user_seconds: float
    system_seconds: float
    peak_memory_bytes: int = Field(description="Largest resident set of any single process of the tree.")


class Termination(Value):
    """That somebody asked for the end, and how far it had to go."""

    by: Literal["terminate", "dispose"] = Field(
        description="A call of terminate, or the disposal of handle or runtime."
    )
    escalated: bool = Field(description="SIGKILL was needed since the tree outlived the grace.")


class ProcessExit(Value):
    """The end of a process. Exactly one of `exit_code`, `signal` and `unknown` is set."""

    exit_code: int | None
    signal: str | None = Field(description="Name of the signal that killed the leader, such as `SIGKILL`.")
    unknown: str | None = Field(description="Why the status is not known; never guessed as 0 or 255.")
    core_dumped: bool
    termination: Termination | None
    drain: Drain
    survivors: tuple[Survivor, ...]
    containment: Containment
    usage: Usage | None = Field(description="None where the status is unknown.")
    started_at: datetime = Field(description="UTC.")
    run_seconds: float = Field(description="From the start to the leader's exit.")
