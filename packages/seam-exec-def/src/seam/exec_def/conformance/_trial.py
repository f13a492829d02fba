"""What a check works with."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict, Unpack

import anyio
import psutil

from seam.exec_def import (
    Abort,
    Environment,
    ExecProcess,
    ExecRequest,
    ExecResult,
    ExecSpec,
    HandOver,
    OutputWindow,
    Progress,
    Setting,
    Settled,
    ShellExecutor,
    StreamMode,
)
from seam.exec_def.conformance._subject import Capabilities

_numbers = itertools.count(1)


class RequestFields(TypedDict, total=False):
    """Fields of `ExecRequest` that checks set."""

    workdir: str | None
    timeout: float | None
    idle_timeout: float | None
    stdin: bytes | None
    streams: StreamMode | None
    output: OutputWindow | None


class Trial:
    """An open executor, a folder of its own, and ways to look at what is left."""

    def __init__(self, executor: ShellExecutor, folder: Path, capabilities: Capabilities) -> None:
        self.executor = executor
        self.folder = folder
        self.capabilities = capabilities

    def spec(
        self,
        command: str,
        *,
        variables: Mapping[str, Setting | None] | None = None,
        **fields: Unpack[RequestFields],
    ) -> ExecSpec:
        """Resolve a command that runs in the trial's folder."""
        environment = Environment(variables=variables) if variables is not None else None
        request = ExecRequest(command=command, workspace=str(self.folder), environment=environment, **fields)
        return self.executor.resolve(request)

    async def run(
        self,
        command: str,
        *,
        variables: Mapping[str, Setting | None] | None = None,
        abort: Abort | None = None,
        hand_over: HandOver | None = None,
        progress: Progress | None = None,
        settled: Settled | None = None,
        **fields: Unpack[RequestFields],
    ) -> ExecResult:
        """Resolve and run in the foreground."""
        spec = self.spec(command, variables=variables, **fields)
        return await self.executor.run(
            spec, abort=abort, hand_over=hand_over, progress=progress, settled=settled
        )

    async def start(
        self,
        command: str,
        *,
        variables: Mapping[str, Setting | None] | None = None,
        **fields: Unpack[RequestFields],
    ) -> ExecProcess:
        """Resolve and start in the background."""
        return await self.executor.start(self.spec(command, variables=variables, **fields))

    def mark(self) -> str:
        """Return a text that is in no other process: a number of seconds to sleep, and a value for variables."""
        return f"3600.{os.getpid()}{next(_numbers):04d}"

    def alive(self, mark: str) -> list[str]:
        """Return the processes, in words, that have the mark among their arguments or in their environment."""
        found: list[str] = []
        for process in psutil.process_iter():
            try:
                if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
                    continue
                arguments = process.cmdline()
                if mark in " ".join(arguments) or mark in process.environ().values():
                    found.append(f"{process.pid} {process.status()} {' '.join(arguments)[:100]}")
            except psutil.Error:
                continue  # gone, or somebody else's: not a process of this trial
        return found

    async def assert_gone(self, mark: str, *, within: float = 2.0) -> None:
        """Fail unless nothing with the mark is alive; a process may take a moment to be gone from the table."""
        limit = time.monotonic() + within
        while left := self.alive(mark):
            assert time.monotonic() < limit, f"still alive: {left}"
            await anyio.sleep(0.02)

    async def until_exists(self, path: Path, *, within: float = 10.0) -> None:
        """Wait until a command has made a file."""
        limit = time.monotonic() + within
        while not path.exists():
            assert time.monotonic() < limit, f"{path.name} was never made"
            await anyio.sleep(0.01)


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self._began
