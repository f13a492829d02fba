"""Resource limits of one confined command."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from seam.kernel import Value

_Count = Annotated[int, Field(ge=1)]


class Limits(Value):
    """What one command and its descendants may use; `None` means not limited by the sandbox.

    Attributes:
        processes: processes and threads alive at once (`RLIMIT_NPROC`, or `pids.max` of a cgroup).
        memory: bytes, of the whole tree where a cgroup can be written, else of each process (`RLIMIT_AS`).
        file_size: bytes of the largest file a process may write (`RLIMIT_FSIZE`).
        open_files: descriptors of one process (`RLIMIT_NOFILE`).
        cpu_time: seconds of processor time of one process (`RLIMIT_CPU`).
        temporary_size: bytes of the private temporary folder.
        core_size: bytes of a core dump; 0 writes none (`RLIMIT_CORE`).

    Source: setrlimit(2), cgroups(7).
    """

    processes: _Count | None = 1024
    memory: _Count | None = None
    file_size: _Count | None = None
    open_files: _Count | None = 4096
    cpu_time: _Count | None = None
    temporary_size: _Count | None = 1 << 30
    core_size: Annotated[int, Field(ge=0)] | None = 0

    def narrowed(self, other: Limits) -> Limits:
        """The smaller of the two in each field."""
        pairs = ((name, getattr(self, name), getattr(other, name)) for name in Limits.model_fields)
        return Limits(**{name: b if a is None else a if b is None else min(a, b) for name, a, b in pairs})
