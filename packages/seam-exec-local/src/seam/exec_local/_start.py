"""From a spec to a live process."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from seam.exec_def import ExecSpec, HookFailure, Progress, SecretRef, Secrets, StreamName
from seam.exec_local._failures import translate
from seam.exec_local._masking import Masker, Masks
from seam.exec_local._running import Running
from seam.exec_local._shells import SCRIPT_DESCRIPTOR, Dialect
from seam.exec_local._shield import shielded
from seam.exec_local._streams import margin
from seam.exec_local._tap import Tap
from seam.exec_local._wrapper import Launch, Wrapper
from seam.subprocess_def import (
    ByteFilter,
    Collect,
    Confidential,
    Data,
    DescriptorSpec,
    Null,
    OwnedLifetime,
    SameAsStdout,
    SpawnSpec,
    StreamId,
    SubprocessError,
    SubprocessRuntime,
)

_NULL = Null()
_MERGED = SameAsStdout()
_OWNED = OwnedLifetime()
_NO_DESCRIPTORS: dict[int, DescriptorSpec] = {}


class Starter:
    """Starts what specs say, through a runtime and a wrapper."""

    def __init__(
        self, runtime: SubprocessRuntime, wrapper: Wrapper, dialect: Dialect, secrets: Secrets | None
    ) -> None:
        self._runtime = runtime
        self._wrapper = wrapper
        self._dialect = dialect
        self._secrets = secrets

    async def start(self, spec: ExecSpec, *, watched: bool, progress: Progress | None = None) -> Running:
        """Start a command; the caller owns what is returned.

        Args:
            spec: what to run.
            watched: whether somebody may subscribe to its output.
            progress: told each piece of output from the first byte on.

        Raises:
            InvalidRequest, ExecutorUnavailable: nothing was started.
        """
        called = time.monotonic()
        confidential, masks = await self._secret_values(spec)
        failures: list[HookFailure] = []
        taps: dict[StreamName, Tap] = {}
        if watched or progress is not None or masks is not None:
            names: tuple[StreamName, ...] = ("stdout",) if spec.streams == "merged" else ("stdout", "stderr")
            taps = {name: Tap(name, Masker(masks) if masks else None, failures) for name in names}
            if progress is not None:
                for tap in taps.values():
                    tap.watch(progress)
        wrapped = await self._wrapper.wrap(spec, Launch(self._plain(spec), confidential))
        filters: dict[StreamId, ByteFilter] = {**taps}
        began = time.monotonic()
        started_at = datetime.now(UTC)
        try:
            process = await self._runtime.spawn(
                wrapped.launch.spawn, confidential=wrapped.launch.confidential, filters=filters or None
            )
        except BaseException as error:
            await shielded(wrapped.discard())
            if isinstance(error, SubprocessError):
                raise translate(error, spec) from error
            raise
        return Running(
            spec,
            process,
            wrapped,
            taps,
            failures,
            started_at=started_at,
            called=called,
            began=began,
            started=time.monotonic(),
        )

    async def _secret_values(self, spec: ExecSpec) -> tuple[Confidential | None, Masks | None]:
        named = {name: value for name, value in spec.environment.items() if isinstance(value, SecretRef)}
        if not named or self._secrets is None:
            return None, None
        values = await self._secrets.reveal(set(named.values()))
        return (
            Confidential(env={name: values[ref].get_secret_value() for name, ref in named.items()}),
            Masks(values),
        )

    def _plain(self, spec: ExecSpec) -> SpawnSpec:
        argv, descriptors = spec.argv, _NO_DESCRIPTORS
        if spec.delivery == "descriptor":
            argv = tuple(self._dialect.loader if part == spec.command else part for part in argv)
            script = spec.command.encode("utf-8", "surrogateescape")
            descriptors = {SCRIPT_DESCRIPTOR: Data(data=script)}
        window = spec.output
        collect = Collect(
            max_bytes=window.head + window.tail + margin(window),
            head_bytes=window.head,
            spill_bytes=window.spill,
        )
        return SpawnSpec(
            argv=argv,
            cwd=spec.workdir,
            env={name: value for name, value in spec.environment.items() if isinstance(value, str)},
            descriptors=descriptors,
            grace=spec.limits.grace,
            survivors=spec.survivors,
            stdin=_NULL if spec.stdin is None else Data(data=spec.stdin),
            stdout=collect,
            stderr=_MERGED if spec.streams == "merged" else collect,
            drain=spec.limits.drain,
            lifetime=_OWNED,
        )
