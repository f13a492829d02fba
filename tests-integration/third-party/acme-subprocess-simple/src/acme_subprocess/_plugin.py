from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator, Mapping

import anyio

from acme_subprocess._process import SimpleProcess
from seam.kernel import Context, NoConfig, plugin
from seam.subprocess_def import (
    ByteFilter,
    Confidential,
    ExecutableNotFound,
    NotSupported,
    Process,
    SpawnLimits,
    SpawnSpec,
    StreamId,
    SubprocessRuntime,
    TerminalProcess,
    TerminalSpec,
)


class SimpleRuntime(SubprocessRuntime):
    """This machine, without any containment beyond a process group."""

    def __init__(self) -> None:
        self._processes: list[SimpleProcess] = []

    @property
    def world_id(self) -> str:
        return "acme"

    @property
    def platform(self) -> str:
        return sys.platform

    @property
    def limits(self) -> SpawnLimits:
        return SpawnLimits(string_bytes=131071, total_bytes=2_000_000)

    @property
    def environment(self) -> Mapping[str, str]:
        return dict(os.environ)

    @property
    def cwd(self) -> str:
        return os.getcwd()

    async def which(self, name: str, env: Mapping[str, str]) -> str | None:
        return shutil.which(name, path=env.get("PATH", ""))

    async def spawn(
        self,
        spec: SpawnSpec,
        *,
        confidential: Confidential | None = None,
        filters: Mapping[StreamId, ByteFilter] | None = None,
    ) -> Process:
        if spec.descriptors or spec.lifetime.kind != "owner":
            raise NotSupported(
                "acme runs plain programs only: no further descriptors, no detached lifetime",
                capability="descriptors",
            )
        try:
            process = SimpleProcess(spec, confidential, filters or {})
        except FileNotFoundError as error:
            raise ExecutableNotFound(f"{spec.argv[0]} is not there", program=spec.argv[0]) from error
        self._processes.append(process)
        return process

    async def spawn_terminal(
        self,
        spec: TerminalSpec,
        *,
        confidential: Confidential | None = None,
        terminal_filter: ByteFilter | None = None,
    ) -> TerminalProcess:
        raise NotSupported("acme has no terminals", capability="terminal")

    async def attach(self, record: str) -> Process:
        raise NotSupported("acme has no detached processes", capability="detached")

    async def aclose(self) -> None:
        for process in self._processes:
            await process.aclose()


@plugin(provides=[SubprocessRuntime])
async def acme(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
    """Provides the world `acme`."""
    runtime = SimpleRuntime()
    ctx.provide(SubprocessRuntime, runtime)
    yield
    with anyio.CancelScope(shield=True):
        await runtime.aclose()
