"""Records of durable jobs on disk: enough to find them again after a restart."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from seam.jobs_def import JobEnd, JobOutput, JobOwner, JobProducer

LOST = JobEnd(cause="lost", message="its process was gone when the host came back; how it ended is unknown")


class JobRecord(BaseModel):
    """One durable job as it is written down.

    Attributes:
        record: what the producer needs to be found again.
        end: how it ended, or None while nobody saw its end.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 1
    id: str
    owner: JobOwner
    title: str
    started: datetime
    kind: str
    record: JsonValue
    end: JobEnd | None = None


class RecordFolder:
    """A folder of records, one file a job: 0600 in 0700, each written whole or not at all."""

    def __init__(self, folder: Path, on_damage: Callable[[str], None]) -> None:
        self._folder = folder
        self._on_damage = on_damage
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._records = {record.id: record for record in self._load()}

    def _load(self) -> list[JobRecord]:
        found: list[JobRecord] = []
        for path in sorted(self._folder.glob("*.json")):
            try:
                found.append(JobRecord.model_validate_json(path.read_bytes()))
            except (ValidationError, OSError) as error:
                self._on_damage(f"{path} is not a job's record and is left alone: {error}")
        return sorted(found, key=lambda record: record.started)

    def has(self, job: str) -> bool:
        """Whether a job of this id is on record."""
        return job in self._records

    def place(self) -> str:
        """A path in the folder that nobody uses, for what a process leaves of itself."""
        return str(self._folder.absolute() / f"process-{secrets.token_hex(8)}")

    async def of_kind(self, kind: str) -> list[JobRecord]:
        """The records of a kind, oldest first."""
        return [record for record in self._records.values() if record.kind == kind]

    async def write(
        self, job: str, owner: JobOwner, title: str, started: datetime, kind: str, record: JsonValue
    ) -> None:
        """Write a new job down; durable when this returns."""
        entry = JobRecord(id=job, owner=owner, title=title, started=started, kind=kind, record=record)
        await anyio.to_thread.run_sync(self._store, entry)

    async def settle(self, job: str, end: JobEnd) -> None:
        """Write down how it ended."""
        known = self._records.get(job)
        if known is not None and known.end is None:
            await anyio.to_thread.run_sync(self._store, known.model_copy(update={"end": end}))

    def forget(self, job: str) -> None:
        """Remove a record."""
        if self._records.pop(job, None) is not None:
            self._path(job).unlink(missing_ok=True)

    def _path(self, job: str) -> Path:
        return self._folder / f"{job}.json"

    def _store(self, entry: JobRecord) -> None:
        temporary = self._folder / f".{entry.id}.{secrets.token_hex(8)}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(entry.model_dump_json().encode())
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path(entry.id))
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        self._records[entry.id] = entry


class Gone(JobProducer):
    """Stands for a durable job of which nothing runs any more."""

    def __init__(self, end: JobEnd | None) -> None:
        self._end = end or LOST

    async def done(self) -> JobEnd:
        """How it ended, as far as anybody knows."""
        return self._end

    async def cancel(self) -> None:
        """Nothing runs."""

    async def read(self, after: int, limit: int) -> JobOutput:
        """Its output is not here any more."""
        return JobOutput(data=b"", start=after, next=after, total=0, ended=True)
