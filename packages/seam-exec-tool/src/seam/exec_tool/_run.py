"""The second step: run it, in the foreground or as a job."""

from __future__ import annotations

from seam.exec_def import (
    ExecProcess,
    ExecResult,
    ExecutorUnavailable,
    LiveText,
    OutputChunk,
    ResourcesExhausted,
    ShellExecutor,
)
from seam.exec_tool._background import ShellJob
from seam.exec_tool._config import ShellToolConfig
from seam.exec_tool._render import render
from seam.exec_tool._resolve import ShellPlan
from seam.exec_tool._value import ShellValue
from seam.jobs_def import JobOwner, JobRegistry
from seam.tools_def import CallContext, CapabilityUnavailable, Completed, Content, Resource, Text

NO_JOBS = (
    "background=true needs the capability `jobs`, which this deployment does not have; run the command in the foreground, "
    "or add an [implement.jobs] row to the deployment"
)


NO_RECORDS = (
    "background commands of this deployment are durable, and the jobs row keeps no records; "
    'set `folder` in [implement.jobs], or background = "session" in the row of the shell tool'
)
KIND = "shell"
"""Names the reviver of durable jobs on record."""


class ShellRunner:
    """Runs resolved calls of one tool."""

    def __init__(self, executor: ShellExecutor, jobs: JobRegistry | None, config: ShellToolConfig) -> None:
        self._executor = executor
        self._jobs = jobs
        self._config = config

    async def __call__(self, plan: ShellPlan, context: CallContext) -> Completed:
        """Run to the end, or start and hand to the registry.

        Raises:
            CapabilityUnavailable: what runs commands cannot run any now.
            ExecError: the world refuses the command; the class says why.
        """
        try:
            if plan.background:
                return await self._background(plan, context)
            return await self._foreground(plan, context)
        except ResourcesExhausted:
            raise
        except ExecutorUnavailable as problem:
            raise CapabilityUnavailable(
                f"{problem.code}: {problem.message}", reason=problem.code
            ) from problem

    async def _foreground(self, plan: ShellPlan, context: CallContext) -> Completed:
        handed: list[str] = []

        async def hand_over(process: ExecProcess) -> bool:
            handed.append(await self._to_jobs(plan, process, context))
            return True

        settled: list[ExecResult] = []
        take = hand_over if self._jobs is not None and self._config.on_timeout == "hand_over" else None
        try:
            result = await self._executor.run(
                plan.spec, hand_over=take, progress=_LiveOutput(context), settled=settled.append
            )
        except BaseException:
            if settled:  # the call is cancelled, and nobody gets to see the result otherwise
                answer = self._completed(settled[0], plan, None)
                context.keep(answer.value, answer.content)
            raise
        job = handed[0] if handed and result.handed_over else None
        return self._completed(result, plan, job)

    def _completed(self, result: ExecResult, plan: ShellPlan, job: str | None) -> Completed:
        text = Text(text=render(result, job=job, limit=self._config.text_limit))
        return Completed(
            value=ShellValue.of(result, job=job, widening=plan.widening).model_dump(mode="json"),
            content=(text, *_spills(result)),
            success=result.success or result.handed_over,
        )

    async def _background(self, plan: ShellPlan, context: CallContext) -> Completed:
        if self._jobs is None:
            raise CapabilityUnavailable(NO_JOBS, reason="jobs")
        if self._config.background == "durable":
            process, job = await self._durable(plan, self._jobs, context)
        else:
            process = await self._executor.start(plan.spec)
            job = await self._to_jobs(plan, process, context)
        value = ShellValue(
            state="background", job=job, pid=process.pid, sandbox=process.sandbox, widening=plan.widening
        )
        text = f"Started in the background as job {job} (pid {process.pid}). It runs until it ends or is stopped."
        return Completed(value=value.model_dump(mode="json"), content=(Text(text=text),))

    async def _durable(
        self, plan: ShellPlan, jobs: JobRegistry, context: CallContext
    ) -> tuple[ExecProcess, str]:
        place = jobs.durable_place()
        if place is None:
            raise CapabilityUnavailable(NO_RECORDS, reason="records")
        process = await self._executor.start_detached(plan.spec, place)
        owner = JobOwner(agent=context.owner.agent, session=context.owner.session)
        job = await jobs.start(owner, plan.title, ShellJob(process, place), kind=KIND, durable=True)
        return process, job.id

    async def _to_jobs(self, plan: ShellPlan, process: ExecProcess, context: CallContext) -> str:
        assert self._jobs is not None  # both callers have looked
        owner = JobOwner(agent=context.owner.agent, session=context.owner.session)
        return (await self._jobs.start(owner, plan.title, ShellJob(process))).id


def _spills(result: ExecResult) -> tuple[Content, ...]:
    return tuple(
        Resource(
            path=stream.spill_path, media_type="text/plain", size=stream.spill_size, title=f"complete {name}"
        )
        for name, stream in (("stdout", result.stdout), ("stderr", result.stderr))
        if stream is not None and stream.spill_path
    )


class _LiveOutput:
    """Hands output on as it arrives, for a person who watches."""

    def __init__(self, context: CallContext) -> None:
        self._context = context
        self._views = {"stdout": LiveText(), "stderr": LiveText()}

    def __call__(self, chunk: OutputChunk) -> None:
        text = self._views[chunk.stream].feed(chunk.data)
        if text:
            self._context.output(text, stream=chunk.stream)
