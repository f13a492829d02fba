"""The registry: ids, owners, waiting, notices, clean-up."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

import anyio
from anyio.abc import TaskGroup

from seam.jobs_def import (
    JobEnd,
    JobEnded,
    JobInfo,
    JobNotice,
    JobOutput,
    JobOwner,
    JobProducer,
    JobRegistry,
    NotDurable,
    NotWritable,
    RegistryClosed,
    Revive,
    TooManyJobs,
    UnknownJob,
)
from seam.jobs_local._config import LocalJobsConfig
from seam.jobs_local._job import Job
from seam.jobs_local._records import Gone, RecordFolder
from seam.kernel import SeamError

Tell = Callable[[JobNotice], Awaitable[None]]


class LocalJobs(JobRegistry):
    """Jobs in this process.

    Args:
        tasks: the plugin's task group, in which each job is awaited; it ends after `close`.
        tell: emits the notice of an ended job.
        hold: keeps the registry alive while a job runs; answers how to let go.
        records: where durable jobs are written down, or None.
    """

    def __init__(
        self,
        config: LocalJobsConfig,
        tasks: TaskGroup,
        tell: Tell,
        hold: Callable[[str], Callable[[], None]],
        records: RecordFolder | None,
    ) -> None:
        self._config = config
        self._tasks = tasks
        self._tell = tell
        self._hold = hold
        self._records = records
        self._jobs: dict[str, Job] = {}
        self._numbers = itertools.count(1)
        self._closed = False
        self._ending: set[JobOwner] = set()
        self._revivers: set[str] = set()

    async def start(
        self, owner: JobOwner, title: str, producer: JobProducer, *, kind: str = "", durable: bool = False
    ) -> JobInfo:
        """Take over something that runs; see `JobRegistry.start`."""
        try:
            self._admit(owner)
            job = Job(self._new_id(), owner, title, producer, durable=durable)
            if durable:
                await self._write_down(job, kind)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await producer.cancel()
                await producer.close()
            raise
        self._take(job)
        return job.summary(total=0)

    def _take(self, job: Job) -> None:
        self._jobs[job.id] = job
        release = self._hold(f"job {job.id}")

        async def watch() -> None:
            try:
                await self._watch(job)
            finally:
                release()

        self._tasks.start_soon(watch)

    def _new_id(self) -> str:
        # ids of durable jobs come back after a restart, so a number may be taken
        while (found := f"j{next(self._numbers)}") in self._jobs or (
            self._records and self._records.has(found)
        ):
            pass
        return found

    def _admit(self, owner: JobOwner) -> None:
        if self._closed or owner in self._ending:
            raise RegistryClosed(
                f"no job can be started for agent {owner.agent!r}, session {owner.session!r}: it is being ended",
                owner=owner,
            )
        running = sum(1 for job in self._jobs.values() if job.owner == owner and job.running)
        if running >= self._config.running_limit:
            raise TooManyJobs(
                f"{running} jobs are running already, which is the limit; stop one first",
                limit=self._config.running_limit,
            )

    async def _write_down(self, job: Job, kind: str) -> None:
        record = job.producer.record()
        if self._records is None:
            raise NotDurable(
                "no folder for records is configured; set `folder` of the jobs row", reason="no folder"
            )
        if record is None or not kind:
            raise NotDurable("what runs this command cannot outlive the host", reason="producer")
        await self._records.write(job.id, job.owner, job.title, job.started, kind, record)

    async def _watch(self, job: Job) -> None:
        """Wait for the end; whatever the producer does, the job gets a final state."""
        try:
            end = await job.producer.done()
        except SeamError as error:
            end = JobEnd(cause="failed", message=error.message)
        with anyio.CancelScope(shield=True):
            await job.settle(end, self._config.tail_bytes)
            if self._records is not None and job.durable:
                await self._records.settle(job.id, job.end or end)
            self._forget_old(job.owner)
        await self._tell(JobNotice(job=job.summary()))

    def _forget_old(self, owner: JobOwner) -> None:
        ended = [job for job in self._jobs.values() if job.owner == owner and not job.running]
        for job in ended[: max(len(ended) - self._config.ended_kept, 0)]:
            del self._jobs[job.id]
            if self._records is not None:
                self._records.forget(job.id)

    def _mine(self, owner: JobOwner, job: str) -> Job:
        found = self._jobs.get(job)
        if found is None or not _belongs(found, owner):
            raise UnknownJob(f"there is no job {job!r}; list the jobs to see which there are", id=job)
        return found

    def list(self, owner: JobOwner) -> Sequence[JobInfo]:
        """Jobs of the owner, oldest first."""
        return [job.summary() for job in self._jobs.values() if _belongs(job, owner)]

    def get(self, owner: JobOwner, job: str) -> JobInfo:
        """One job."""
        return self._mine(owner, job).summary()

    async def read(self, owner: JobOwner, job: str, *, after: int, limit: int) -> JobOutput:
        """Output from an absolute offset."""
        return await self._mine(owner, job).read(after, limit)

    async def wait(
        self, owner: JobOwner, jobs: Sequence[str], *, timeout: float, beyond: Mapping[str, int] | None = None
    ) -> Sequence[JobInfo]:
        """Wait for the first end (or output beyond an offset), at most `timeout` seconds."""
        found = [self._mine(owner, job) for job in jobs]
        if found and all(job.running for job in found):
            with anyio.move_on_after(timeout):
                async with anyio.create_task_group() as group:
                    for job in found:
                        group.start_soon(_first, job.over.wait, group.cancel_scope)
                        if beyond is not None and job.id in beyond:
                            group.start_soon(
                                _first, partial(job.producer.changed, beyond[job.id]), group.cancel_scope
                            )
        return [await job.info() for job in found]

    async def write(self, owner: JobOwner, job: str, data: bytes) -> None:
        """Send input."""
        found = self._mine(owner, job)
        if not found.running:
            raise JobEnded(f"job {job} has ended; nothing can be sent to it", id=job)
        if not found.producer.writable:
            raise NotWritable(f"job {job} takes no input", id=job)
        await found.producer.write(data)

    async def stop(self, owner: JobOwner, job: str) -> JobInfo:
        """End it and wait."""
        found = self._mine(owner, job)
        await self._end(found, JobEnd(cause="stopped", message="stopped by its owner"))
        return found.summary()

    async def end_owner(self, owner: JobOwner) -> None:
        """End the owner's jobs, durable ones excepted, and wait."""
        self._ending.add(owner)
        try:
            await self._end_all(
                [job for job in self._jobs.values() if job.owner == owner and not job.durable], "owner_ended"
            )
            for job in [job for job in self._jobs.values() if job.owner == owner and not job.durable]:
                del self._jobs[job.id]
        finally:
            self._ending.discard(owner)

    async def close(self) -> None:
        """Part of the plugin's end: nothing that this registry owns runs afterwards, except durable jobs."""
        self._closed = True
        await self._end_all([job for job in self._jobs.values() if not job.durable], "owner_ended")

    async def _end_all(self, jobs: Sequence[Job], cause: str) -> None:
        end = JobEnd.model_validate({"cause": cause, "message": "the conversation or the host ended"})
        async with anyio.create_task_group() as group:
            for job in jobs:
                if job.running:
                    group.start_soon(self._end, job, end)

    async def _end(self, job: Job, why: JobEnd) -> None:
        if not job.running:
            return
        job.stop_cause = job.stop_cause or why
        await job.producer.cancel()
        await job.over.wait()

    def durable_place(self) -> str | None:
        """Beside the records."""
        return None if self._records is None else self._records.place()

    def offer_reviver(self, kind: str, revive: Revive) -> Callable[[], None]:
        """Revive what is on record of this kind; ended ones are listed again as they ended."""
        if self._records is None or kind in self._revivers:
            return lambda: None
        self._revivers.add(kind)
        self._tasks.start_soon(self._revive_all, self._records, kind, revive)
        return lambda: None

    async def _revive_all(self, records: RecordFolder, kind: str, revive: Revive) -> None:
        for record in await records.of_kind(kind):
            if record.id in self._jobs:
                continue
            producer = await revive(record.record) if record.end is None else None
            job = Job(record.id, record.owner, record.title, producer or Gone(record.end), durable=True)
            job.started = record.started
            self._take(job)


def _belongs(job: Job, owner: JobOwner) -> bool:
    return job.owner == owner or (job.durable and job.owner.agent == owner.agent)


async def _first(wait: Callable[[], Awaitable[object]], scope: anyio.CancelScope) -> None:
    await wait()
    scope.cancel()
