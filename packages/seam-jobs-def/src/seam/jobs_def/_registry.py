"""The registry, and what a producer hands in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence

from pydantic import JsonValue

from seam.jobs_def._values import JobEnd, JobInfo, JobNotice, JobOutput, JobOwner
from seam.kernel import Observe, Service

job_ended: Observe[JobNotice] = Observe("jobs.ended")
"""Told once for each job that ended, after its state is final."""


class JobProducer(ABC):
    """What runs. The registry calls these and nothing else of it."""

    @abstractmethod
    async def done(self) -> JobEnd:
        """Wait until it is over; may be awaited by several, also afterwards."""

    @abstractmethod
    async def cancel(self) -> None:
        """End it wholly; when this returns, nothing of it is running. Idempotent."""

    @abstractmethod
    async def read(self, after: int, limit: int) -> JobOutput:
        """Output from an absolute byte offset, at most `limit` bytes; returns at once."""

    async def changed(self, after: int) -> None:
        """Return when output beyond the offset is there or the job is over; without an own one, the registry waits for the end only."""
        await self.done()

    @property
    def writable(self) -> bool:
        """Whether `write` does anything."""
        return False

    async def write(self, data: bytes) -> None:
        """Send input; raises what the producer's definition says when it cannot."""
        raise NotImplementedError

    def facts(self) -> dict[str, JsonValue]:
        """What is known of it now: pid, workdir, ... JSON values only."""
        return {}

    def record(self) -> JsonValue:
        """What is needed to find it again after a restart, or None when it ends with the host."""
        return None

    async def close(self) -> None:  # noqa: B027 - optional by contract
        """Release descriptors after the end; the output read so far stays readable through the registry."""


Revive = Callable[[JsonValue], Awaitable[JobProducer | None]]
"""From a producer's record to the producer found again, or None when nothing of it is left."""


class JobRegistry(Service, key="jobs"):
    """Owns ids, owners, listing, waiting, notices and clean-up. Every method is fenced by owner."""

    @abstractmethod
    async def start(
        self, owner: JobOwner, title: str, producer: JobProducer, *, kind: str = "", durable: bool = False
    ) -> JobInfo:
        """Take over something that runs. On any error the producer is cancelled first: nothing runs without an owner.

        Args:
            kind: names the reviver, needed with `durable`.

        Raises:
            TooManyJobs, RegistryClosed, NotDurable.
        """

    @abstractmethod
    def list(self, owner: JobOwner) -> Sequence[JobInfo]:
        """Jobs of the owner, running and ended, oldest first."""

    @abstractmethod
    def get(self, owner: JobOwner, job: str) -> JobInfo:
        """One job. Raises UnknownJob."""

    @abstractmethod
    async def read(self, owner: JobOwner, job: str, *, after: int, limit: int) -> JobOutput:
        """Output from an absolute byte offset; negative means that many bytes from the end. Raises UnknownJob."""

    @abstractmethod
    async def wait(
        self, owner: JobOwner, jobs: Sequence[str], *, timeout: float, beyond: Mapping[str, int] | None = None
    ) -> Sequence[JobInfo]:
        """Wait until one of them ended, or has output beyond its offset, at most `timeout` seconds; answers the state of all.

        Args:
            beyond: by job, the absolute offset (bytes) up to which its output is known; jobs that are not named are awaited only.

        Raises:
            UnknownJob.
        """

    @abstractmethod
    async def write(self, owner: JobOwner, job: str, data: bytes) -> None:
        """Send input. Raises UnknownJob, JobEnded, NotWritable."""

    @abstractmethod
    async def stop(self, owner: JobOwner, job: str) -> JobInfo:
        """End it and wait until nothing of it runs. Stopping an ended job changes nothing. Raises UnknownJob."""

    def durable_place(self) -> str | None:
        """A new path of the world where what is needed to find a durable process again can be written, or None: no records are kept."""
        return None

    @abstractmethod
    def offer_reviver(self, kind: str, revive: Revive) -> Callable[[], None]:
        """Say how durable jobs of a kind are found again; those on record are revived now. Returns an idempotent disposer.

        Offered by the package that makes the producers, each time it is set up.
        """

    @abstractmethod
    async def end_owner(self, owner: JobOwner) -> None:
        """The conversation is over: end its jobs (not durable ones) and wait."""
