"""Starting processes that outlive the host, and finding them again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime

from seam.subprocess_def import (
    ByteFilter,
    Confidential,
    Containment,
    NotSupported,
    Process,
    SpawnSpec,
    StreamId,
)
from seam.subprocess_local import _record
from seam.subprocess_local._attached import AttachedProcess
from seam.subprocess_local._config import LocalSubprocessConfig
from seam.subprocess_local._ends import Manner
from seam.subprocess_local._file_stream import FileStream
from seam.subprocess_local._process import LocalProcess
from seam.subprocess_local._starter import Starter, Way, command_of
from seam.subprocess_local._wiring import wire


class Detacher:
    """The part of a runtime that deals with records."""

    def __init__(
        self, starter: Starter, config: LocalSubprocessConfig, world: str, containment: Containment
    ) -> None:
        self._starter = starter
        self._config = config
        self._world = world
        self._containment = containment

    async def spawn(
        self,
        spec: SpawnSpec,
        path: str,
        confidential: Confidential | None,
        filters: Mapping[StreamId, ByteFilter] | None,
    ) -> Process:
        """Start a process, and write its record; errors as `SubprocessRuntime.spawn`."""
        _check(spec, filters)
        command = command_of(spec.argv, spec.executable, spec.cwd, spec.env, confidential)
        manner = Manner(
            grace=spec.grace,
            drain=0.0,
            keep_survivors=spec.survivors == "keep",
            detached=True,
            settle=self._config.settle,
            patience=self._config.patience,
            containment=self._containment,
            cgroup=self._starter.new_cgroup(),
        )
        started_at = datetime.now(UTC)
        wiring = wire(spec, confidential, self._starter.null)
        record = _record.DetachedRecord(
            world=self._world,
            boot=_record.boot_id(),
            supervisor=None,
            leader=None,
            started_at=started_at,
            grace=spec.grace,
            survivors=spec.survivors,
            containment=self._containment,
            files={str(stream): file for stream, file in wiring.files.items()},
        )
        try:
            log = _record.create(path, record)
        except BaseException:
            wiring.close_theirs()
            wiring.close_ours()
            raise
        try:
            way = Way(spec.grace, manner.cgroup, log=log, end_survivors=spec.survivors == "end")
            process = await self._starter.start(
                lambda: LocalProcess(manner, started_at, self._starter.start_soon), command, wiring, way, None
            )
        except BaseException:
            _record.remove(path)
            raise
        finally:
            os.close(log)
        self.add_files(process, wiring.files)
        identities = {
            "leader": _record.identify(process.pid),
            "supervisor": _record.identify(process.supervisor_pid),
        }
        _record.replace(path, record.model_copy(update=identities))
        return process

    def add_files(self, process: LocalProcess | AttachedProcess, files: Mapping[StreamId, str]) -> None:
        """Let the streams that go straight into files be read through the handle."""
        window, interval = self._config.read_bytes, self._config.file_interval
        process.add_files(
            {
                stream: FileStream(path, lambda: process.exit is not None, window=window, interval=interval)
                for stream, path in files.items()
            }
        )

    async def attach(self, path: str) -> Process:
        """Find a process by its record; errors as `SubprocessRuntime.attach`."""
        record = _record.load(path, self._world)
        process = AttachedProcess(path, record, self._config.patience)
        self._starter.processes.add(process)
        process.bind(lambda: self._starter.processes.discard(process))
        names: tuple[StreamId, ...] = ("stdout", "stderr")
        self.add_files(
            process, {name: record.files[str(name)] for name in names if str(name) in record.files}
        )
        if process.exit is None:
            self._starter.start_soon(process.watch)
        return process


def _check(spec: SpawnSpec, filters: Mapping[StreamId, ByteFilter] | None) -> None:
    kinds = {"stdin": spec.stdin.kind, "stdout": spec.stdout.kind, "stderr": spec.stderr.kind}
    kinds |= {str(number): descriptor.kind for number, descriptor in spec.descriptors.items()}
    fit = {"null", "file", "data", "path", "confided"} | (
        {"stdout"} if spec.stdout.kind in ("null", "file") else set[str]()
    )
    wrong = sorted(f"{stream} ({kind})" for stream, kind in kinds.items() if kind not in fit)
    if wrong:
        raise NotSupported(
            f"a detached process outlives who would serve these streams: {', '.join(wrong)}; use null or file",
            capability="detached streams",
        )
    if filters:
        raise NotSupported(
            "the output of a detached process goes straight into files, a filter would not see it; "
            "give it no secrets, or use lifetime owner",
            capability="detached filters",
        )
