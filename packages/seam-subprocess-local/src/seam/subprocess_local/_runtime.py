"""The service."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from seam.subprocess_def import (
    ByteFilter,
    Confidential,
    NotSupported,
    Process,
    ProcessSpec,
    RuntimeClosed,
    SpawnLimits,
    SpawnSpec,
    StreamId,
    SubprocessRuntime,
    TerminalProcess,
    TerminalSpec,
)
from seam.subprocess_local._cgroup import writable_cgroup
from seam.subprocess_local._config import LocalSubprocessConfig
from seam.subprocess_local._detach import Detacher
from seam.subprocess_local._ends import Manner
from seam.subprocess_local._failures import STRING_BYTES, total_limit
from seam.subprocess_local._ladder import choose
from seam.subprocess_local._level import Level
from seam.subprocess_local._locate import which
from seam.subprocess_local._process import LocalProcess
from seam.subprocess_local._starter import Starter, Way, command_of
from seam.subprocess_local._terminal import LocalTerminalProcess, wire_terminal
from seam.subprocess_local._wiring import wire

WORLD = "local"


class LocalSubprocessRuntime(SubprocessRuntime):
    """Programs on this machine; made with `open_runtime`."""

    def __init__(
        self, config: LocalSubprocessConfig, level: Level, cgroup: str | None, tasks: TaskGroup
    ) -> None:
        self._config = config
        self._starter = Starter(config, level, cgroup, tasks)
        self._containment = level.containment(cgroup=cgroup is not None, detached=False)
        self._detacher = Detacher(
            self._starter, config, WORLD, level.containment(cgroup=cgroup is not None, detached=True)
        )

    @property
    def world_id(self) -> str:
        return WORLD

    @property
    def platform(self) -> str:
        return "linux"

    @property
    def limits(self) -> SpawnLimits:
        return SpawnLimits(string_bytes=STRING_BYTES, total_bytes=total_limit())

    @property
    def environment(self) -> Mapping[str, str]:
        return dict(os.environ)

    @property
    def cwd(self) -> str:
        return str(Path.cwd())

    async def which(self, name: str, env: Mapping[str, str]) -> str | None:
        return which(name, env)

    async def spawn(
        self,
        spec: SpawnSpec,
        *,
        confidential: Confidential | None = None,
        filters: Mapping[StreamId, ByteFilter] | None = None,
    ) -> Process:
        if not isinstance(spec, SpawnSpec):  # pyright: ignore[reportUnnecessaryIsInstance] - said at run time too
            raise TypeError(f"spawn takes a SpawnSpec, not {type(spec).__name__}")
        self._check_open()
        if spec.lifetime.kind == "detached":
            return await self._detacher.spawn(spec, spec.lifetime.record, confidential, filters)
        command = command_of(spec.argv, spec.executable, spec.cwd, spec.env, confidential)
        wiring = wire(spec, confidential, self._starter.null)
        cgroup = self._starter.new_cgroup()

        def make() -> LocalProcess:
            return LocalProcess(
                self._manner(spec, spec.drain, cgroup), datetime.now(UTC), self._starter.start_soon
            )

        process = await self._starter.start(make, command, wiring, Way(spec.grace, cgroup), filters)
        if wiring.files:
            self._detacher.add_files(process, wiring.files)
        return process

    async def spawn_terminal(
        self,
        spec: TerminalSpec,
        *,
        confidential: Confidential | None = None,
        terminal_filter: ByteFilter | None = None,
    ) -> TerminalProcess:
        if not isinstance(spec, TerminalSpec):  # pyright: ignore[reportUnnecessaryIsInstance] - said at run time too
            raise TypeError(f"spawn_terminal takes a TerminalSpec, not {type(spec).__name__}")
        self._check_open()
        command = command_of(spec.argv, spec.executable, spec.cwd, spec.env, confidential)
        wiring, terminal = wire_terminal(spec, confidential, terminal_filter)
        cgroup = self._starter.new_cgroup()

        def make() -> LocalTerminalProcess:
            manner = self._manner(spec, 0.0, cgroup)
            return LocalTerminalProcess(manner, datetime.now(UTC), self._starter.start_soon, terminal)

        try:
            way = Way(spec.grace, cgroup, terminal=True)
            return await self._starter.start(make, command, wiring, way, None)
        except BaseException:
            terminal.close()
            raise

    async def attach(self, record: str) -> Process:
        self._check_open()
        return await self._detacher.attach(record)

    def _check_open(self) -> None:
        if self._starter.closing:
            raise RuntimeClosed("the subprocess runtime is closing; nothing is started any more")

    def _manner(self, spec: ProcessSpec, drain: float, cgroup: str) -> Manner:
        return Manner(
            grace=spec.grace,
            drain=drain,
            keep_survivors=spec.survivors == "keep",
            detached=False,
            settle=self._config.settle,
            patience=self._config.patience,
            containment=self._containment,
            cgroup=cgroup,
        )

    async def run(self) -> None:
        """Serve all processes until `close`."""
        await self._starter.poller.run()

    async def close(self) -> None:
        """End every process that is not detached, and wait for it."""
        await self._starter.close()


@asynccontextmanager
async def open_runtime(config: LocalSubprocessConfig | None = None) -> AsyncGenerator[LocalSubprocessRuntime]:
    """A runtime for the duration of a block.

    Raises:
        NotSupported: the configuration demands a containment that this machine does not have.
    """
    config = config or LocalSubprocessConfig()
    cgroup = None
    if config.cgroup != "off":
        cgroup = writable_cgroup()
        if cgroup is None and config.cgroup == "required":
            raise NotSupported(
                "no cgroup v2 can be written here; delegate one to this user, or set cgroup = 'auto'",
                capability="cgroup",
            )
    level = choose(config.containment)
    problem: BaseException | None = None
    async with anyio.create_task_group() as tasks:
        runtime = LocalSubprocessRuntime(config, level, cgroup, tasks)
        tasks.start_soon(runtime.run)
        try:
            yield runtime
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as raised:
            problem = raised  # the block's own, not to be wrapped in a group by the tasks that serve it
        finally:
            await runtime.close()
    if problem is not None:
        raise problem
