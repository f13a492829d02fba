"""One job: its producer while it runs, and what stays of it afterwards."""

from __future__ import annotations

from datetime import UTC, datetime

import anyio
from pydantic import JsonValue

from seam.jobs_def import JobEnd, JobInfo, JobOutput, JobOwner, JobProducer


class Job:
    """The registry's own record of a job."""

    def __init__(
        self, identifier: str, owner: JobOwner, title: str, producer: JobProducer, *, durable: bool
    ) -> None:
        self.id = identifier
        self.owner = owner
        self.title = title
        self.producer = producer
        self.durable = durable
        self.started = datetime.now(UTC)
        self.ended: datetime | None = None
        self.end: JobEnd | None = None
        self.stop_cause: JobEnd | None = None
        """Why the registry ends it, set before it does: it explains the producer's end."""
        self.over = anyio.Event()
        self._facts: dict[str, JsonValue] = {}
        self._tail = b""
        self._tail_start = 0
        self._total = 0
        self._spill: str | None = None

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.end is None

    async def settle(self, end: JobEnd, keep: int) -> None:
        """Take down how it ended and the end of its output, then let go of the producer's descriptors."""
        await self._take_tail(keep)
        self._facts = self.producer.facts()
        self.ended = datetime.now(UTC)
        self.end = self._explained(end)
        self.over.set()
        await self.producer.close()

    def _explained(self, end: JobEnd) -> JobEnd:
        if self.stop_cause is None or end.cause == "exited":
            return end
        return end.model_copy(
            update={"cause": self.stop_cause.cause, "message": self.stop_cause.message or end.message}
        )

    async def _take_tail(self, keep: int) -> None:
        probe = await self.producer.read(0, 1)
        self._total = probe.total
        self._spill = probe.spill
        piece = await self.producer.read(max(self._total - keep, 0), max(keep, 1))
        self._tail, self._tail_start = piece.data, piece.start

    async def read(self, after: int, limit: int) -> JobOutput:
        """Output from an absolute offset, or so many bytes from the end where it is negative."""
        if self.running:
            if after < 0:
                probe = await self.producer.read(0, 1)
                after = max(probe.total + after, 0)
            return await self.producer.read(after, limit)
        start = max(self._total + after, 0) if after < 0 else min(after, self._total)
        first = max(start, self._tail_start)
        data = self._tail[first - self._tail_start :][:limit]
        reached = first + len(data)
        return JobOutput(
            data=data,
            start=first,
            next=reached,
            total=self._total,
            lost=first - start,
            spill=self._spill,
            ended=reached >= self._total,
        )

    async def info(self) -> JobInfo:
        """The job as its owner sees it."""
        total, kept_from = self._total, self._tail_start
        if self.running:
            total, kept_from = (await self.producer.read(0, 1)).total, 0
        return self.summary(total=total, kept_from=kept_from)

    def summary(self, *, total: int | None = None, kept_from: int | None = None) -> JobInfo:
        """As `info`, without asking a running producer how much it wrote."""
        lost = self.end is not None and self.end.cause == "lost"
        return JobInfo(
            id=self.id,
            owner=self.owner,
            title=self.title,
            state="running" if self.running else "lost" if lost else "ended",
            started=self.started,
            ended=self.ended,
            end=self.end,
            total=self._total if total is None else total,
            kept_from=self._tail_start if kept_from is None else kept_from,
            writable=self.running and self.producer.writable,
            durable=self.durable,
            facts=self.producer.facts() if self.running else self._facts,
        )
