"""A producer that does what the test says."""

from __future__ import annotations

import anyio
from pydantic import JsonValue

from seam.jobs_def import JobEnd, JobOutput, JobProducer


class Scripted(JobProducer):
    """Runs until it is ended or cancelled; writes what it is told."""

    def __init__(self, *, record: JsonValue = None, cancels: bool = True) -> None:
        self.output = b""
        self.closed = 0
        self.cancelled = 0
        self.input: list[bytes] = []
        self._record = record
        self._cancels = cancels
        self._end: JobEnd | None = None
        self._over = anyio.Event()
        self._changed = anyio.Event()

    def say(self, data: bytes) -> None:
        self.output += data
        self._changed.set()
        self._changed = anyio.Event()

    def end(self, **end: object) -> None:
        if self._end is None:
            self._end = JobEnd.model_validate({"cause": "exited", "exit_code": 0} | end)
            self._over.set()
            self._changed.set()

    async def done(self) -> JobEnd:
        await self._over.wait()
        assert self._end is not None
        return self._end

    async def cancel(self) -> None:
        self.cancelled += 1
        if self._cancels:
            self.end(cause="signalled", exit_code=None, signal="SIGTERM")

    async def read(self, after: int, limit: int) -> JobOutput:
        data = self.output[after : after + limit]
        return JobOutput(
            data=data,
            start=after,
            next=after + len(data),
            total=len(self.output),
            ended=self._end is not None and after + len(data) >= len(self.output),
        )

    async def changed(self, after: int) -> None:
        while len(self.output) <= after and self._end is None:
            await self._changed.wait()

    @property
    def writable(self) -> bool:
        return True

    async def write(self, data: bytes) -> None:
        self.input.append(data)

    def facts(self) -> dict[str, JsonValue]:
        return {"pid": 1}

    def record(self) -> JsonValue:
        return self._record

    async def close(self) -> None:
        self.closed += 1
