"""The five tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar, cast

from pydantic import BaseModel, JsonValue

from seam.exec_def import plain_text
from seam.jobs_def import JobInfo, JobOwner, JobRegistry
from seam.jobs_tool._config import JobsToolConfig
from seam.jobs_tool._parameters import (
    ListParameters,
    ReadParameters,
    SendParameters,
    StopParameters,
    WaitParameters,
)
from seam.jobs_tool._render import line, listing, piece
from seam.tools_def import (
    CallContext,
    CallRefusal,
    Completed,
    Effects,
    RequiresApproval,
    Resolution,
    ResolvedCall,
    Text,
    Tool,
    ToolResult,
    effects,
)

P = TypeVar("P", bound=BaseModel)


class JobTools:
    """Makes the tools over a registry."""

    def __init__(self, jobs: JobRegistry, config: JobsToolConfig) -> None:
        self._jobs = jobs
        self._config = config

    def all(self) -> tuple[Tool, ...]:
        """Every tool, in the order that a model sees them."""
        reads = effects("reads")
        return (
            self._tool(
                "job_list", "List the background jobs of this session.", ListParameters, self._list, reads
            ),
            self._tool(
                "job_read",
                "Read the output of a background job, piece by piece.",
                ReadParameters,
                self._read,
                reads,
            ),
            self._waiting_tool(reads),
            self._tool(
                "job_send",
                "Send text to the standard input of a background job.",
                SendParameters,
                self._send,
                effects("executes"),
            ),
            # ending what this session started itself needs nobody's consent
            self._tool(
                "job_stop",
                "End a background job with all its processes, and wait until it is gone.",
                StopParameters,
                self._stop,
                effects("executes"),
                "never",
            ),
        )

    def _tool(
        self,
        name: str,
        description: str,
        parameters: type[P],
        do: Callable[[P, JobOwner], Awaitable[Completed]],
        what: Effects,
        approval: RequiresApproval = "on-risk",
        resolve: Callable[..., Awaitable[Resolution]] | None = None,
    ) -> Tool:
        async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
            owner = JobOwner(agent=context.owner.agent, session=context.owner.session)
            return await do(cast(P, resolved.plan), owner)

        return Tool(
            name=name,
            description=description,
            parameters=parameters,
            run=run,
            resolve=resolve,
            effects=what,
            requires_approval=approval,
            concurrency="parallel",
            deadline=self._config.call_deadline
            if resolve is None
            else self._config.wait_limit + self._config.call_deadline,
        )

    def _waiting_tool(self, what: Effects) -> Tool:
        async def resolve(parameters: WaitParameters, context: CallContext) -> Resolution:
            seconds = min(parameters.timeout, self._config.wait_limit)
            return Resolution(deadline=seconds + self._config.call_deadline, plan=parameters)

        description = (
            "Wait until one of several background jobs has ended, or one has new output, with a time limit."
        )
        return self._tool("job_wait", description, WaitParameters, self._wait, what, resolve=resolve)

    async def _list(self, parameters: ListParameters, owner: JobOwner) -> Completed:
        jobs = [
            job for job in self._jobs.list(owner) if not parameters.running_only or job.state == "running"
        ]
        shown = jobs[-self._config.list_limit :]
        return _answer(
            listing(shown, len(jobs) - len(shown)), {"jobs": _dump(shown), "left_out": len(jobs) - len(shown)}
        )

    async def _read(self, parameters: ReadParameters, owner: JobOwner) -> Completed:
        after = -self._config.read_bytes if parameters.cursor is None else parameters.cursor
        output = await self._jobs.read(owner, parameters.job, after=after, limit=self._config.read_bytes)
        job = self._jobs.get(owner, parameters.job)
        text = plain_text(output.data, cut=True).text
        value: dict[str, JsonValue] = {"job": job.model_dump(mode="json"), "text": text}
        value |= output.model_dump(mode="json", exclude={"data"})
        return _answer(piece(job, output, text), value)

    async def _wait(self, parameters: WaitParameters, owner: JobOwner) -> Completed:
        seconds = min(parameters.timeout, self._config.wait_limit)
        cursor = parameters.cursor
        if cursor is not None and len(parameters.jobs) != 1:
            raise CallRefusal(
                "jobs-tool", "a cursor belongs to one job; wait for that job alone, or leave the cursor out"
            )
        beyond = None if cursor is None else {parameters.jobs[0]: cursor}
        jobs = await self._jobs.wait(owner, parameters.jobs, timeout=seconds, beyond=beyond)
        lowered = seconds < parameters.timeout
        note = f"\n[the timeout was lowered to the maximum of {seconds:g} s]" if lowered else ""
        return _answer("\n".join(line(job) for job in jobs) + note, {"jobs": _dump(jobs), "timeout": seconds})

    async def _send(self, parameters: SendParameters, owner: JobOwner) -> Completed:
        data = parameters.text.encode()
        await self._jobs.write(owner, parameters.job, data)
        return _answer(
            f"Sent {len(data)} bytes to {parameters.job}.", {"job": parameters.job, "sent": len(data)}
        )

    async def _stop(self, parameters: StopParameters, owner: JobOwner) -> Completed:
        job = await self._jobs.stop(owner, parameters.job)
        return _answer(line(job), {"job": job.model_dump(mode="json")})


def _dump(jobs: Sequence[JobInfo]) -> list[JsonValue]:
    return [job.model_dump(mode="json") for job in jobs]


def _answer(text: str, value: JsonValue) -> Completed:
    return Completed(value=value, content=(Text(text=text),))
