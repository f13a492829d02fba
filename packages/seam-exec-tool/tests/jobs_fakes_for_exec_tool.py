"""A registry that only remembers what it was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from seam.jobs_def import JobInfo, JobOutput, JobOwner, JobProducer, JobRegistry, Revive


class RecordingJobs(JobRegistry):
    """Takes every job and answers ids j1, j2, ..."""

    def __init__(self) -> None:
        self.started: list[tuple[str, str, JobProducer]] = []

    async def start(
        self, owner: JobOwner, title: str, producer: JobProducer, *, kind: str = "", durable: bool = False
    ) -> JobInfo:
        self.started.append((owner.session, title, producer))
        return JobInfo(
            id=f"j{len(self.started)}", owner=owner, title=title, state="running", started=datetime.now(UTC)
        )

    def list(self, owner: JobOwner) -> Sequence[JobInfo]:
        raise AssertionError("the tool does not list jobs")

    def get(self, owner: JobOwner, job: str) -> JobInfo:
        raise AssertionError("the tool does not look jobs up")

    async def read(self, owner: JobOwner, job: str, *, after: int, limit: int) -> JobOutput:
        raise AssertionError("the tool does not read jobs")

    async def wait(
        self, owner: JobOwner, jobs: Sequence[str], *, timeout: float, beyond: Mapping[str, int] | None = None
    ) -> Sequence[JobInfo]:
        raise AssertionError("the tool does not wait for jobs")

    async def write(self, owner: JobOwner, job: str, data: bytes) -> None:
        raise AssertionError("the tool does not write to jobs")

    async def stop(self, owner: JobOwner, job: str) -> JobInfo:
        raise AssertionError("the tool does not stop jobs")

    def offer_reviver(self, kind: str, revive: Revive) -> Callable[[], None]:
        raise AssertionError("the tool makes no durable jobs")

    async def end_owner(self, owner: JobOwner) -> None:
        raise AssertionError("the tool does not end owners")
