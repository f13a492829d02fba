"""From a spec to a live process."""

from __future__ import annotations

import time
from collections.abc import Mapping

from seam.exec_def import ExecSpec, HookFailure, Progress, SecretRef, Secrets, StreamName, UnknownSecret
from seam.exec_local._detached import DetachedProcess, attach_detached, spawn_detached
from seam.exec_local._failures import translate
from seam.exec_local._masking import Masker, Masks
from seam.exec_local._running import Running
from seam.exec_local._shells import Dialect
from seam.exec_local._shield import shielded
from seam.exec_local._spawning import SpawnSpecs
from seam.exec_local._tap import Tap
from seam.exec_local._verdict import Verdict
from seam.exec_local._wrapper import Launch, Wrapper
from seam.subprocess_def import (
    ByteFilter,
    Confidential,
    StreamId,
    SubprocessError,
    SubprocessRuntime,
)


class Starter:
    """Starts what specs say, through a runtime and a wrapper."""

    def __init__(
        self, runtime: SubprocessRuntime, wrapper: Wrapper, dialect: Dialect, secrets: Secrets | None
    ) -> None:
        self._runtime = runtime
        self._wrapper = wrapper
        self._specs = SpawnSpecs(dialect)
        self._secrets = secrets

    async def start(
        self, spec: ExecSpec, verdict: Verdict, *, watched: bool, progress: Progress | None = None
    ) -> Running:
        """Start a command; the caller owns what is returned.

        Args:
            spec: what to run.
            verdict: who wants the command to end.
            watched: whether somebody may subscribe to its output.
            progress: told each piece of output from the first byte on.

        Raises:
            InvalidRequest, ExecutorUnavailable: nothing was started.
        """
        called = time.monotonic()
        named = spec.environment.references
        confidential, masks = await self._reveal(named) if named else (None, None)
        failures: list[HookFailure] = []
        taps: dict[StreamName, Tap] = {}
        if watched or progress is not None or masks is not None:
            names: tuple[StreamName, ...] = ("stdout",) if spec.streams == "merged" else ("stdout", "stderr")
            taps = {name: Tap(name, Masker(masks) if masks else None, failures) for name in names}
            if progress is not None:
                for tap in taps.values():
                    tap.watch(progress)
        wrapped = await self._wrapper.wrap(spec, Launch(self._specs.make(spec), confidential))
        filters: dict[StreamId, ByteFilter] = {**taps}
        began = time.monotonic()
        try:
            process = await self._runtime.spawn(
                wrapped.launch.spawn, confidential=wrapped.launch.confidential, filters=filters or None
            )
        except BaseException as error:
            await shielded(wrapped.discard())
            if isinstance(error, SubprocessError):
                raise translate(error, spec) from error
            raise
        try:
            await wrapped.confirm(process)
        except BaseException:
            await shielded(process.aclose())
            await shielded(wrapped.discard())
            raise
        return Running(
            spec,
            process,
            wrapped,
            taps,
            failures,
            verdict,
            called=called,
            began=began,
            started=time.monotonic(),
        )

    async def detach(self, spec: ExecSpec, record: str) -> DetachedProcess:
        """Start a command that outlives the host; see `spawn_detached`."""
        return await spawn_detached(self._runtime, spec, self._specs.make(spec), record)

    async def attach(self, spec: ExecSpec, record: str) -> DetachedProcess | None:
        """Find one again."""
        return await attach_detached(self._runtime, spec, record)

    async def _reveal(self, named: Mapping[str, SecretRef]) -> tuple[Confidential, Masks | None]:
        if self._secrets is None:
            raise UnknownSecret(
                f"the spec asks for the secret {next(iter(named.values())).secret!r}, and this deployment has no [implement.secrets] row",
                secret=next(iter(named.values())).secret,
            )
        values = await self._secrets.reveal(set(named.values()))
        env = {name: values[reference].get_secret_value() for name, reference in named.items()}
        return Confidential(env=env), Masks(values) if any(env.values()) else None
