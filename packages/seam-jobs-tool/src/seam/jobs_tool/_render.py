"""What a model reads about jobs."""

from __future__ import annotations

from collections.abc import Sequence

from seam.jobs_def import JobInfo, JobOutput


def line(job: JobInfo) -> str:
    """One job in one line."""
    title = job.title.splitlines()[0][:120] if job.title.strip() else "(no title)"
    durable = ", durable" if job.durable else ""
    return f"{job.id}: {state(job)}, {job.total} bytes of output{durable} - {title}"


def state(job: JobInfo) -> str:
    """How it stands, with code or signal."""
    if job.end is None:
        return "running"
    match job.end.cause:
        case "exited":
            return f"exited with code {job.end.exit_code}"
        case "signalled":
            return f"ended by signal {job.end.signal}"
        case "stopped":
            return "stopped"
        case cause:
            return (
                f"{cause.replace('_', ' ')}: {job.end.message}"
                if job.end.message
                else cause.replace("_", " ")
            )


def listing(jobs: Sequence[JobInfo], left_out: int) -> str:
    """All jobs, oldest first."""
    if not jobs:
        return "No jobs."
    older = [f"[{left_out} older jobs are not shown]"] if left_out else []
    return "\n".join([*older, *(line(job) for job in jobs)])


def piece(job: JobInfo, output: JobOutput, text: str) -> str:
    """A piece of output with its cursor."""
    head = f"{job.id}: {state(job)}. Bytes {output.start} to {output.next} of {output.total}; cursor {output.next}."
    lost = f"[{output.lost} bytes before that are gone{f'; all of it is in {output.spill}' if output.spill else ''}]"
    more = "[there is more: read on from the cursor]" if output.next < output.total else ""
    return "\n".join(
        part
        for part in (head, lost if output.lost else "", text.removesuffix("\n") or "[no output]", more)
        if part
    )
