"""The record of a detached process on disk, and the identity of processes."""

from __future__ import annotations

import os
import secrets
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from seam.subprocess_def import Containment, RecordUnusable, SurvivorPolicy
from seam.subprocess_local._wire import LISTED_NAMES, Event, EventReader

EVENTS_SUFFIX = ".events"
"""Beside the record: what the supervisor tells, appended by itself."""


class ProcessIdentity(BaseModel):
    """A process beyond doubt: its number, and when it started in clock ticks since boot (proc_pid_stat(5),
    field 22)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    ticks: int

    def open(self) -> int | None:
        """A pidfd of this very process; None when it has ended."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return None
        if start_ticks(self.pid) == self.ticks:
            return descriptor
        os.close(descriptor)
        return None


class DetachedRecord(BaseModel):
    """What is needed to find a detached process again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    world: str
    boot: str
    supervisor: ProcessIdentity | None
    leader: ProcessIdentity | None
    started_at: datetime
    grace: float
    survivors: SurvivorPolicy
    containment: Containment
    files: dict[str, str]


def boot_id() -> str:
    """Changes with every start of the machine (random(4))."""
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()


def start_ticks(pid: int) -> int | None:
    """When a process started; None when there is none of that number, or only a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(")") + 2 :].split(" ")
    return None if fields[0] in "ZX" else int(fields[19])


def identify(pid: int) -> ProcessIdentity | None:
    """The identity of a process that is running now."""
    ticks = start_ticks(pid)
    return None if ticks is None else ProcessIdentity(pid=pid, ticks=ticks)


def create(path: str, record: DetachedRecord) -> int:
    """Make the record's file, and the events' file beside it; returns a descriptor of the latter, for the
    supervisor.

    Raises:
        RecordUnusable: one exists already, or cannot be written.
    """
    if not path.startswith("/"):
        raise RecordUnusable(f"the record {path!r} is not an absolute path", record=path, reason="unwritable")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, record.model_dump_json().encode())
            return os.open(path + EVENTS_SUFFIX, flags | os.O_APPEND, 0o600)
        except BaseException:
            os.unlink(path)  # noqa: PTH108
            raise
        finally:
            os.close(descriptor)
    except FileExistsError as problem:
        raise RecordUnusable(
            f"{problem.filename} exists; choose another name, or attach to it and remove it when it has ended",
            record=path,
            reason="exists",
        ) from None
    except (OSError, ValueError) as problem:
        raise RecordUnusable(
            f"the record {path!r} cannot be written: {problem}", record=path, reason="unwritable"
        ) from None


def replace(path: str, record: DetachedRecord) -> None:
    """Write the record anew, at once or not at all."""
    fresh = Path(f"{path}.{secrets.token_hex(6)}")
    fresh.touch(mode=0o600)
    fresh.write_text(record.model_dump_json(), "utf-8")
    fresh.rename(path)


def remove(path: str) -> None:
    """Remove a record whose process was never started."""
    Path(path).unlink(missing_ok=True)
    Path(path + EVENTS_SUFFIX).unlink(missing_ok=True)


def load(path: str, world: str) -> DetachedRecord:
    """Read a record.

    Raises:
        RecordUnusable: missing, malformed, or of another world.
    """
    try:
        record = DetachedRecord.model_validate_json(Path(path).read_bytes())
    except (OSError, ValueError) as problem:
        missing = isinstance(problem, FileNotFoundError)
        wrong = (
            f"{problem.error_count()} fields are wrong"
            if isinstance(problem, ValidationError)
            else str(problem)
        )
        raise RecordUnusable(
            f"{path!r} is not the record of a process: {wrong}",
            record=path,
            reason="missing" if missing else "malformed",
        ) from None
    if record.world != world:
        raise RecordUnusable(
            f"{path!r} belongs to world {record.world!r}, this is {world!r}; attach there",
            record=path,
            reason="other_world",
        )
    return record


def events(path: str) -> dict[int, Event]:
    """What the supervisor told, the last of each kind."""
    try:
        data = Path(path + EVENTS_SUFFIX).read_bytes()
    except FileNotFoundError:
        return {}
    return {event.kind: event for event in EventReader().feed(data) if event.kind != LISTED_NAMES}
