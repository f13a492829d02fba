"""What is said of a job."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue

from seam.kernel import Value


class JobOwner(Value):
    """Whose a job is. A durable job belongs to the agent: every session of that agent sees it.

    Attributes:
        agent: the agent's name in the deployment.
        session: one conversation of it.
    """

    agent: str
    session: str


JobState = Literal["running", "ended", "lost"]


class JobEnd(Value):
    """How a job ended.

    Attributes:
        cause: `exited`, `signalled`, `stopped` (by its owner), `output_limit`, `owner_ended`, `failed`, `lost` (nobody can know).
        exit_code: where there is one.
        signal: name, where it was ended by one.
        message: a sentence for person and model.
    """

    cause: Literal["exited", "signalled", "stopped", "output_limit", "owner_ended", "failed", "lost"]
    exit_code: int | None = None
    signal: str | None = None
    message: str = ""


class JobInfo(Value):
    """One job as its owner sees it.

    Attributes:
        id: short, unique in the registry, never reused.
        title: what it is, for person and model: the command.
        started: UTC.
        ended: UTC, or None.
        end: how it ended, or None while it runs.
        total: bytes of output produced so far.
        kept_from: lowest byte offset that can still be read.
        writable: whether input can be sent.
        durable: whether it outlives the host.
        facts: what the producer says (pid, workdir, sandbox facts, log path).
    """

    id: str
    owner: JobOwner
    title: str
    state: JobState
    started: datetime
    ended: datetime | None = None
    end: JobEnd | None = None
    total: int = 0
    kept_from: int = 0
    writable: bool = False
    durable: bool = False
    facts: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])


class JobOutput(Value):
    """A piece of a job's output, by absolute byte offset; readers do not steal from each other.

    Attributes:
        data: the bytes, masked.
        start: offset of the first byte; above the asked one where bytes were lost.
        next: where to read on.
        total: bytes that there are so far, whatever was asked for.
        lost: bytes between the asked offset and `start` that are gone from memory.
        spill: file that holds all of it, where there is one.
        ended: nothing will come after `next`.
    """

    data: bytes
    start: int
    next: int
    total: int
    lost: int = 0
    spill: str | None = None
    ended: bool = False


class JobNotice(Value):
    """A job ended; for a host that wakes its agent."""

    job: JobInfo
