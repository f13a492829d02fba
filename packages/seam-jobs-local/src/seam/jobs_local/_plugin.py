"""The plugin."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import anyio

from seam.jobs_def import JobNotice, JobRegistry, job_ended
from seam.jobs_local._config import LocalJobsConfig
from seam.jobs_local._records import RecordFolder
from seam.jobs_local._registry import LocalJobs
from seam.kernel import Context, plugin


@plugin(provides=[JobRegistry], config=LocalJobsConfig)
async def local(ctx: Context, config: LocalJobsConfig) -> AsyncIterator[None]:
    """Keeps jobs in this process; what still runs at its end is ended, durable jobs excepted."""

    async def tell(notice: JobNotice) -> None:
        await ctx.observe(job_ended, notice)

    records = RecordFolder(config.folder, logging.getLogger("seam.jobs").warning) if config.folder else None
    async with anyio.create_task_group() as tasks:
        registry = LocalJobs(config, tasks, tell, ctx.hold, records)
        ctx.provide(JobRegistry, registry)
        yield
        await registry.close()
        tasks.cancel_scope.cancel()
