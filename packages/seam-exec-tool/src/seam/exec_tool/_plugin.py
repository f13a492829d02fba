"""The plugin: two steps and a rendering, no trace of how."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import cast

from pydantic import BaseModel

from seam.exec_def import ShellExecutor
from seam.exec_tool._background import revive
from seam.exec_tool._config import ShellToolConfig
from seam.exec_tool._parameters import DESCRIPTION, ShellParameters
from seam.exec_tool._resolve import ShellPlan, resolve_shell
from seam.exec_tool._run import KIND, ShellRunner
from seam.exec_tool._value import ShellValue
from seam.jobs_def import JobRegistry
from seam.kernel import Context, plugin
from seam.tools_def import CallContext, PromptNote, Resolution, ResolvedCall, Tool, ToolResult, effects


def shell_tool(executor: ShellExecutor, jobs: JobRegistry | None, config: ShellToolConfig) -> Tool:
    """The tool `shell` over an executor."""
    runner = ShellRunner(executor, jobs, config)

    async def resolve(parameters: BaseModel, context: CallContext) -> Resolution:
        return resolve_shell(executor, config, cast(ShellParameters, parameters), context)

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        return await runner(cast(ShellPlan, resolved.plan), context)

    return Tool(
        name="shell",
        description=DESCRIPTION,
        parameters=ShellParameters,
        output=ShellValue,
        effects=effects("reads", "writes", "executes", "network"),
        concurrency="parallel",
        resolve=resolve,
        run=run,
    )


@plugin(requires=[ShellExecutor], optional=[JobRegistry], config=ShellToolConfig)
async def exec_tool(ctx: Context, config: ShellToolConfig) -> AsyncIterator[None]:
    """Offers `shell`, and a note that says what runs its commands."""
    executor = ctx[ShellExecutor]
    facts = executor.facts
    jobs = ctx.get(JobRegistry)
    ctx.contribute(shell_tool(executor, jobs, config))
    if jobs is not None:
        ctx.effect(jobs.offer_reviver(KIND, partial(revive, executor)), "reviver")
    ctx.contribute(
        PromptNote(
            text=f"shell runs {facts.dialect} commands, sandbox mode {facts.sandbox_mode}; "
            f"a command may take at most {facts.max_timeout:g} seconds in the foreground."
        )
    )
    yield
