"""The runtime: starts processes, owns them, ends them."""

from __future__ import annotations

import errno
import os
import secrets
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import anyio
from anyio.abc import TaskGroup

from seam.subprocess_def import (
    BadWorkingDirectory,
    ByteFilter,
    Collect,
    Confidential,
    NotSupported,
    Process,
    RuntimeClosed,
    SpawnLimits,
    SpawnSpec,
    StreamId,
    SubprocessRuntime,
    TerminalProcess,
    TerminalSpec,
)
from seam.subprocess_local._cgroup import writable_cgroup
from seam.subprocess_local._collector import Collector, ReadBuffer
from seam.subprocess_local._config import LocalSubprocessConfig
from seam.subprocess_local._failures import (
    STRING_BYTES,
    Command,
    failure,
    malformed,
    too_many_descriptors,
    total_limit,
)
from seam.subprocess_local._ladder import choose
from seam.subprocess_local._level import Level, Order
from seam.subprocess_local._locate import locate, which
from seam.subprocess_local._pipes import Feeder, PipeSink, PipeSource
from seam.subprocess_local._poller import Poller
from seam.subprocess_local._process import LocalProcess, Manner, Streams
from seam.subprocess_local._spill import SpillFolder
from seam.subprocess_local._supervision import Supervision
from seam.subprocess_local._wire import Stage
from seam.subprocess_local._wiring import Wiring, wire


class LocalSubprocessRuntime(SubprocessRuntime):
    """Programs on this machine; made with `open_runtime`."""

    def __init__(
        self, config: LocalSubprocessConfig, level: Level, cgroup: str | None, tasks: TaskGroup
    ) -> None:
        self._config = config
        self._level = level
        self._cgroup = cgroup
        self._tasks = tasks
        self._poller = Poller()
        self._buffer = ReadBuffer(config.read_bytes, config.pipe_bytes)
        self._folder = SpillFolder(config.spill_folder)
        self._null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self._processes: set[Process] = set()
        self._closing = False
        self._containment = {
            detached: level.containment(cgroup=cgroup is not None, detached=detached)
            for detached in (False, True)
        }

    @property
    def world_id(self) -> str:
        return "local"

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
        return os.getcwd()  # noqa: PTH109 - a path of the world is a text

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
        command = self._command(spec.argv, spec.executable, spec.cwd, spec.env, confidential)
        wiring = wire(spec, confidential, self._null)
        manner = Manner(
            grace=spec.grace,
            drain=spec.drain,
            keep_survivors=spec.survivors == "keep",
            detached=False,
            settle=self._config.settle,
            patience=self._config.patience,
            containment=self._containment[False],
        )
        process = await self._start(command, wiring, manner, filters or {})
        await self._started(process, command)
        return process

    async def spawn_terminal(
        self,
        spec: TerminalSpec,
        *,
        confidential: Confidential | None = None,
        terminal_filter: ByteFilter | None = None,
    ) -> TerminalProcess:
        raise NotSupported("terminals are not written yet", capability="terminal")

    async def attach(self, record: str) -> Process:
        raise NotSupported("attach is not written yet", capability="detached")

    # -- the start --

    def _check_open(self) -> None:
        if self._closing:
            raise RuntimeClosed("the subprocess runtime is closing; nothing is started any more")

    def _command(
        self,
        argv: tuple[str, ...],
        executable: str | None,
        cwd: str,
        env: Mapping[str, str],
        confidential: Confidential | None,
    ) -> Command:
        if confidential is not None and confidential.env:
            env = {**env, **confidential.env}
        if not cwd.startswith("/"):
            raise BadWorkingDirectory(
                f"the working directory {cwd!r} is not absolute; give the whole path",
                cwd=cwd,
                reason="relative",
            )
        return Command(argv, locate(executable or argv[0], env), cwd, env)

    async def _start(
        self, command: Command, wiring: Wiring, manner: Manner, filters: Mapping[StreamId, ByteFilter]
    ) -> LocalProcess:
        process = LocalProcess(manner, datetime.now(UTC), self._start_soon)
        try:
            control = await self._order(command, wiring, manner)
        except BaseException:
            wiring.close_ours()
            raise
        finally:
            wiring.close_theirs()
        self._processes.add(process)
        process.bind(
            Supervision(control, self._poller, process.changed),
            self._streams(wiring, filters, process),
            lambda: self._processes.discard(process),
        )
        return process

    async def _order(self, command: Command, wiring: Wiring, manner: Manner) -> socket.socket:
        try:
            ours, theirs = socket.socketpair()
        except OSError as problem:
            raise too_many_descriptors(problem.errno or errno.EMFILE) from None
        stdio = wiring.stdio
        order = Order(
            command=command,
            control=theirs.fileno(),
            stdio=(stdio[0], stdio[1], stdio[2]),
            pairs=wiring.pairs,
            terminal=False,
            log=-1,
            grace_ms=round(manner.grace * 1000),
            cgroup="" if self._cgroup is None else f"{self._cgroup}/seam-{secrets.token_hex(8)}",
        )
        try:
            await self._level.start(order)
        except OSError as problem:
            ours.close()
            raise failure(command, Stage.PROCESS, problem.errno or 0) from None
        except ValueError:
            ours.close()
            raise malformed(command) from None
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return ours

    def _streams(
        self, wiring: Wiring, filters: Mapping[StreamId, ByteFilter], process: LocalProcess
    ) -> Streams:
        streams = Streams({}, {}, {}, [])
        for stream, descriptor, spec in wiring.readers:
            byte_filter = filters.get(stream)
            if isinstance(spec, Collect):
                streams.collected[stream] = Collector(
                    descriptor,
                    spec,
                    byte_filter,
                    poller=self._poller,
                    buffer=self._buffer,
                    folder=self._folder,
                    on_end=process.stream_ended,
                )
            else:
                streams.sources[stream] = PipeSource(descriptor, byte_filter)
        for stream, descriptor, data in wiring.writers:
            if data is None:
                streams.sinks[stream] = PipeSink(descriptor)
            else:
                streams.feeders.append(Feeder(descriptor, data, self._poller))
        return streams

    async def _started(self, process: LocalProcess, command: Command) -> None:
        """Wait until the supervisor has said how it went."""
        try:
            found = await process.answer()
        except BaseException:
            await process.aclose()
            raise
        if found is not None:
            await process.aclose()
            raise failure(command, *found)

    def _start_soon(self, work: Callable[[], Awaitable[None]]) -> None:
        async def shielded() -> None:
            with anyio.CancelScope(shield=True):
                await work()

        self._tasks.start_soon(shielded)

    # -- the end --

    async def run(self) -> None:
        """Serve all processes until `close`."""
        await self._poller.run()

    async def close(self) -> None:
        """End every process and wait for it, then release what the runtime holds."""
        self._closing = True
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as ending:
                for process in tuple(self._processes):
                    ending.start_soon(process.aclose)
            await self._level.close()
            self._poller.stop()
        self._folder.remove()
        os.close(self._null)


@asynccontextmanager
async def open_runtime(config: LocalSubprocessConfig | None = None) -> AsyncGenerator[LocalSubprocessRuntime]:
    """A runtime for the duration of a block.

    Raises:
        NotSupported: the configuration demands a containment that this machine does not have.
    """
    config = config or LocalSubprocessConfig()
    level = choose(config.containment)
    cgroup = None
    if config.cgroup != "off":
        cgroup = writable_cgroup()
        if cgroup is None and config.cgroup == "required":
            raise NotSupported(
                "no cgroup v2 can be written here; delegate one to this user, or set cgroup = 'auto'",
                capability="cgroup",
            )
    problem: Exception | None = None
    async with anyio.create_task_group() as tasks:
        runtime = LocalSubprocessRuntime(config, level, cgroup, tasks)
        tasks.start_soon(runtime.run)
        try:
            yield runtime
        except Exception as raised:
            problem = raised  # the block's own, not to be wrapped in a group by the tasks that serve it
        finally:
            await runtime.close()
    if problem is not None:
        raise problem
