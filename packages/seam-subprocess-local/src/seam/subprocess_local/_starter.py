"""Carrying a start out: descriptors, order, handle."""

from __future__ import annotations

import errno
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import anyio
from anyio.abc import TaskGroup

from seam.subprocess_def import BadWorkingDirectory, ByteFilter, Collect, Confidential, Process, StreamId
from seam.subprocess_local._collector import Collector, ReadBuffer
from seam.subprocess_local._config import LocalSubprocessConfig
from seam.subprocess_local._ends import Streams
from seam.subprocess_local._failures import Command, failure, malformed, too_many_descriptors
from seam.subprocess_local._level import Level, Order
from seam.subprocess_local._locate import locate
from seam.subprocess_local._pipes import Feeder, PipeSink, PipeSource
from seam.subprocess_local._poller import Poller
from seam.subprocess_local._process import LocalProcess
from seam.subprocess_local._spill import SpillFolder
from seam.subprocess_local._supervision import Supervision
from seam.subprocess_local._wire import Stage
from seam.subprocess_local._wiring import Wiring


def command_of(
    argv: tuple[str, ...],
    executable: str | None,
    cwd: str,
    env: Mapping[str, str],
    confidential: Confidential | None,
) -> Command:
    """What to run, with its program found and its secrets in place.

    Raises:
        SpawnFailed: the program is not found, or the working directory is not absolute.
    """
    if confidential is not None and confidential.env:
        env = {**env, **confidential.env}
    if not cwd.startswith("/"):
        raise BadWorkingDirectory(
            f"the working directory {cwd!r} is not absolute; give the whole path", cwd=cwd, reason="relative"
        )
    return Command(argv, locate(executable or argv[0], env), cwd, env)


ProcessT = TypeVar("ProcessT", bound=LocalProcess)


@dataclass(slots=True)
class Way:
    """How the supervisor of one start is told to go about it; see `Order`."""

    grace: float
    cgroup: str
    terminal: bool = False
    log: int = -1
    end_survivors: bool = False


class Starter:
    """What all processes of a runtime share, and the steps of a start."""

    def __init__(
        self, config: LocalSubprocessConfig, level: Level, cgroup: str | None, tasks: TaskGroup
    ) -> None:
        self._level = level
        self._cgroup = cgroup
        self._tasks = tasks
        self._buffer = ReadBuffer(config.read_bytes, config.pipe_bytes)
        self._folder = SpillFolder(config.spill_folder)
        self.poller = Poller()
        self.null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self.processes: set[Process] = set()
        self.closing = False

    def new_cgroup(self) -> str:
        """The path of a cgroup for one process; empty where none is used."""
        return "" if self._cgroup is None else f"{self._cgroup}/seam-{secrets.token_hex(8)}"

    async def start(
        self,
        make: Callable[[], ProcessT],
        command: Command,
        wiring: Wiring,
        way: Way,
        filters: Mapping[StreamId, ByteFilter] | None,
    ) -> ProcessT:
        """Start a process; `make` makes its handle. Returns when it runs.

        The order goes out first: what else there is to do is done while it is carried out.

        Raises:
            SpawnFailed: nothing was started, and every descriptor of the wiring is closed.
        """
        try:
            control = await self._hand_over(command, wiring, way)
        except BaseException:
            wiring.close_ours()
            raise
        finally:
            wiring.close_theirs()
        process = make()
        self.processes.add(process)
        supervision = Supervision(control, self.poller, process.changed)
        process.bind(supervision, self._streams(wiring, filters or {}, process), self.processes.discard)
        try:
            await supervision.answered.wait()
        except BaseException:
            await process.aclose()
            raise
        if supervision.failed is not None:
            process.release()
            raise failure(command, *supervision.failed)
        return process

    async def _hand_over(self, command: Command, wiring: Wiring, way: Way) -> socket.socket:
        try:
            ours, theirs = socket.socketpair()
        except OSError as problem:
            raise too_many_descriptors(problem.errno or errno.EMFILE) from None
        order = Order(
            command=command,
            control=theirs.fileno(),
            stdio=wiring.stdio,
            pairs=wiring.pairs,
            terminal=way.terminal,
            log=way.log,
            grace_ms=round(way.grace * 1000),
            end_survivors=way.end_survivors,
            cgroup=way.cgroup,
        )
        try:
            await self._level.start(order)
        except BaseException as problem:
            ours.close()
            if isinstance(problem, OSError):
                raise failure(command, Stage.PROCESS, problem.errno or 0) from None
            if isinstance(problem, ValueError):
                raise malformed(command) from None
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
                    poller=self.poller,
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
                streams.feeders.append(Feeder(descriptor, data, self.poller))
        return streams

    def start_soon(self, work: Callable[[], Awaitable[None]]) -> None:
        """A task of the runtime; ended by itself or by what it serves, never by cancellation from outside."""

        async def shielded() -> None:
            with anyio.CancelScope(shield=True):
                await work()

        self._tasks.start_soon(shielded)

    async def close(self) -> None:
        """End every process and wait for it, then release what they shared."""
        self.closing = True
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as ending:
                for process in tuple(self.processes):
                    ending.start_soon(process.aclose)
            await self._level.close()
            self.poller.stop()
        self._folder.remove()
        os.close(self.null)
