"""From the executor's spec to the runtime's."""

from __future__ import annotations

from seam.exec_def import ExecSpec, Variables
from seam.exec_local._shells import SCRIPT_DESCRIPTOR, Dialect
from seam.exec_local._streams import margin
from seam.subprocess_def import Collect, Data, Null, OwnedLifetime, SameAsStdout, SpawnSpec


class SpawnSpecs:
    """Makes the specs of starts. What a command has in common with the one before it is not made and validated again."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._environment: Variables | None = None
        self._key: tuple[object, ...] = ()
        self._common: SpawnSpec | None = None

    def make(self, spec: ExecSpec) -> SpawnSpec:
        """Return what is started for `spec` where nothing is wrapped around it."""
        changes: dict[str, object] = {"argv": spec.argv, "cwd": spec.workdir}
        if spec.delivery == "descriptor":
            changes["argv"] = tuple(
                self._dialect.loader if part == spec.command else part for part in spec.argv
            )
            changes["descriptors"] = {
                SCRIPT_DESCRIPTOR: Data(data=spec.command.encode("utf-8", "surrogateescape"))
            }
        if spec.stdin is not None:
            changes["stdin"] = Data(data=spec.stdin)
        return self._shared(spec).model_copy(update=changes)

    def _shared(self, spec: ExecSpec) -> SpawnSpec:
        limits = spec.limits
        key = (limits.grace, limits.drain, spec.survivors, spec.streams, spec.output)
        if self._common is None or self._environment is not spec.environment or self._key != key:
            self._environment, self._key, self._common = spec.environment, key, _common(spec)
        return self._common


def _common(spec: ExecSpec) -> SpawnSpec:
    window = spec.output
    collect = Collect(
        max_bytes=window.head + window.tail + margin(window), head_bytes=window.head, spill_bytes=window.spill
    )
    return SpawnSpec(
        argv=spec.argv,
        cwd=spec.workdir,
        env=spec.environment.texts,
        grace=spec.limits.grace,
        survivors=spec.survivors,
        stdin=Null(),
        stdout=collect,
        stderr=SameAsStdout() if spec.streams == "merged" else collect,
        drain=spec.limits.drain,
        lifetime=OwnedLifetime(),
    )
