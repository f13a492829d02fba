"""A running command as the producer of a job."""

from __future__ import annotations

from pydantic import JsonValue, ValidationError

from seam.exec_def import ExecProcess, ExecResult, ExecSpec, ShellExecutor
from seam.jobs_def import JobEnd, JobOutput, JobProducer


class ShellJob(JobProducer):
    """Hands a live command to the registry: how to await, cancel and read it."""

    def __init__(self, process: ExecProcess, record: str | None = None) -> None:
        self._process = process
        self._record = record

    async def done(self) -> JobEnd:
        """How the command ended."""
        return _end(await self._process.wait())

    async def cancel(self) -> None:
        """End the whole tree."""
        await self._process.terminate()

    async def read(self, after: int, limit: int) -> JobOutput:
        """Bytes of the one stream that a background command has: its request asked for merged streams."""
        piece = await self._process.read(offset=after, limit=limit)
        return JobOutput(
            data=piece.data,
            start=piece.offset,
            next=piece.next_offset,
            total=piece.total,
            lost=piece.lost,
            spill=piece.spill_path,
            ended=piece.ended and piece.next_offset >= piece.total,
        )

    async def changed(self, after: int) -> None:
        """Return when there is output beyond the offset, or the command is over."""
        if not await self._process.wait_beyond(after):
            await self._process.wait()

    def facts(self) -> dict[str, JsonValue]:
        """Process id and working directory."""
        return {
            "pid": self._process.pid,
            "workdir": self._process.spec.workdir,
            "sandbox": self._process.spec.isolation.mode,
        }

    def record(self) -> JsonValue:
        """Spec and place of a command that outlives the host."""
        if self._record is None:
            return None
        return {"spec": self._process.spec.model_dump(mode="json"), "place": self._record}

    async def close(self) -> None:
        """Let go of descriptors."""
        await self._process.aclose()


async def revive(executor: ShellExecutor, record: JsonValue) -> ShellJob | None:
    """A durable job found again, or None when nothing of it is left or the executor is another one."""
    assert isinstance(record, dict)
    place = str(record["place"])
    try:
        spec = ExecSpec.model_validate(record["spec"])
        process = await executor.attach(spec, place)
    except (ValidationError, TypeError):
        return None  # written by another executor or version: it cannot be watched with this one
    return None if process is None else ShellJob(process, place)


def _end(result: ExecResult) -> JobEnd:
    match result.cause:
        case "exited":
            return JobEnd(cause="exited", exit_code=result.exit_code)
        case "lost":
            return JobEnd(cause="lost", message=result.lost_reason or "the world where it ran was lost")
        case _ if result.ended_by in ("owner", "disposal", "abort", "cancellation"):
            return JobEnd(cause="stopped", exit_code=result.exit_code, signal=result.signal)
        case _:
            return JobEnd(cause="signalled", exit_code=result.exit_code, signal=result.signal)
