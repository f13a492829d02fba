"""The plugin."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from seam.exec_def import ExecutorFacts, Secrets, ShellExecutor, ShellNotFound
from seam.exec_local._config import LocalExecConfig
from seam.exec_local._environment import Environments, inherited
from seam.exec_local._executor import LocalExecutor, opened
from seam.exec_local._resolve import Resolver, usual_limits
from seam.exec_local._shells import dialect_of
from seam.exec_local._start import Starter
from seam.exec_local._wrapper import Bare, Wrapper
from seam.kernel import Context, plugin
from seam.subprocess_def import SubprocessRuntime


@asynccontextmanager
async def executor(
    runtime: SubprocessRuntime,
    config: LocalExecConfig,
    *,
    secrets: Secrets | None,
    wrapper: Wrapper,
    distribution: str,
) -> AsyncGenerator[LocalExecutor, None]:
    """Make an executor for a block: the one way in, also for distributions that build on this one.

    Args:
        runtime: where commands run.
        config: everything that can be tuned.
        secrets: who knows values; without it every reference is refused.
        wrapper: what goes around every shell.
        distribution: whose version the specs carry.

    Raises:
        ShellNotFound: the configured shell is not in this world.
    """
    world = inherited(runtime.environment, config.inherit)
    shell = await runtime.which(config.shell, world)
    if shell is None:
        raise ShellNotFound(
            f"the shell {config.shell!r} is not in the PATH of {runtime.world_id}; configure `shell` with an absolute path",
            shell=config.shell,
            reason="missing",
        )
    dialect = dialect_of(config.shell)
    workspace = config.workspace if config.workspace is not None else runtime.cwd
    resolver = Resolver(
        config=config,
        shell=shell,
        dialect=dialect,
        workspace=workspace,
        environments=Environments(config, runtime.environment, runtime.limits, secrets),
        limits=runtime.limits,
        wrapper=wrapper,
        version=version(distribution),
        usual=usual_limits(config),
    )
    facts = ExecutorFacts(
        executor=wrapper.mechanism,
        version=resolver.version,
        dialect=dialect.name,
        shell=shell,
        world_id=runtime.world_id,
        sandbox_mode=wrapper.mode,
        confines=wrapper.confines,
        workspace=workspace,
        max_timeout=config.max_timeout,
    )
    async with opened(facts, resolver, Starter(runtime, wrapper, dialect, secrets)) as made:
        yield made


@plugin(requires=[SubprocessRuntime], optional=[Secrets], provides=[ShellExecutor], config=LocalExecConfig)
async def local(ctx: Context, config: LocalExecConfig) -> AsyncIterator[None]:
    """Provide `exec`: commands run directly in the world of `subprocess`."""
    async with executor(
        ctx[SubprocessRuntime],
        config,
        secrets=ctx.get(Secrets),
        wrapper=Bare(),
        distribution="seam-exec-local",
    ) as made:
        ctx.provide(ShellExecutor, made)
        yield
