"""Opening the descriptors of a start, all or none."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Mapping

from seam.subprocess_def import (
    Collect,
    Confided,
    Confidential,
    Data,
    DescriptorSpec,
    File,
    Inherit,
    InvalidDescriptor,
    Null,
    OpenPath,
    Outlet,
    Pipe,
    SameAsStdout,
    SpawnSpec,
    StreamId,
)
from seam.subprocess_local._failures import too_many_descriptors


class Wiring:
    """The descriptors of one start.

    Attributes:
        stdio: what becomes 0, 1 and 2 in the child.
        pairs: further descriptors, `(here, in the child)`.
        readers: reading ends that stay here, with their spec.
        writers: writing ends that stay here; bytes to feed, or None for a pipe of the caller.
        files: paths of streams that go straight into a file.
    """

    __slots__ = ("_theirs", "files", "pairs", "readers", "stdio", "writers")

    def __init__(self) -> None:
        self.stdio: tuple[int, int, int] = (-1, -1, -1)
        self.pairs: list[tuple[int, int]] = []
        self.readers: list[tuple[StreamId, int, Pipe | Collect]] = []
        self.writers: list[tuple[StreamId, int, bytes | None]] = []
        self.files: dict[StreamId, str] = {}
        self._theirs: list[int] = []

    def close_theirs(self) -> None:
        """Close the child's ends here, once it has them (or never will)."""
        for descriptor in self._theirs:
            os.close(descriptor)
        self._theirs.clear()

    def close_ours(self) -> None:
        """Close the ends that were to stay here, when nothing was started."""
        for _, descriptor, _ in (*self.readers, *self.writers):
            os.close(descriptor)

    def give(self, descriptor: int) -> int:
        """Take charge of a descriptor that the child gets."""
        self._theirs.append(descriptor)
        return descriptor

    def read_end(self, stream: StreamId, spec: Pipe | Collect) -> int:
        """A pipe that the child writes; returns its end."""
        ours, theirs = _pipe()
        self.readers.append((stream, ours, spec))
        return self.give(theirs)

    def write_end(self, stream: StreamId, data: bytes | None) -> int:
        """A pipe that the child reads; returns its end."""
        theirs, ours = _pipe()
        self.writers.append((stream, ours, data))
        return self.give(theirs)


def _pipe() -> tuple[int, int]:
    ours, theirs = os.pipe()
    if ours > 2 and theirs > 2:
        return ours, theirs
    return lift(ours), lift(theirs)  # a host with its own 0, 1 or 2 closed


def lift(descriptor: int) -> int:
    """Move a descriptor away from 0, 1 and 2, which the child's own would overwrite."""
    if descriptor > 2:
        return descriptor
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved


def wire(spec: SpawnSpec, confidential: Confidential | None, null: int) -> Wiring:
    """Open everything that a spec asks for; `null` is a descriptor of the null device.

    Raises:
        TooManyDescriptors: the process or the system has no more.
        InvalidDescriptor: a path cannot be opened, a number is reserved, confided bytes are missing.
    """
    wiring = Wiring()
    try:
        _standard(wiring, spec, null)
        if spec.descriptors:
            wire_further(wiring, spec.descriptors, confidential, stored=spec.lifetime.kind == "detached")
    except BaseException as problem:
        wiring.close_theirs()
        wiring.close_ours()
        if isinstance(problem, OSError) and problem.errno in (errno.EMFILE, errno.ENFILE):
            raise too_many_descriptors(problem.errno) from None
        raise
    return wiring


def _standard(wiring: Wiring, spec: SpawnSpec, null: int) -> None:
    detached = spec.lifetime.kind == "detached"
    match spec.stdin:
        case Null():
            stdin = null
        case Pipe():
            stdin = wiring.write_end("stdin", None)
        case Data(data=data):
            stdin = wiring.give(_stored(data)) if detached else wiring.write_end("stdin", data)
    stdout = _output(wiring, "stdout", spec.stdout, null, 1)
    stderr = (
        stdout if isinstance(spec.stderr, SameAsStdout) else _output(wiring, "stderr", spec.stderr, null, 2)
    )
    wiring.stdio = (stdin, stdout, stderr)


def _output(
    wiring: Wiring, stream: StreamId, spec: Null | Pipe | Inherit | Collect | File, null: int, inherited: int
) -> int:
    if isinstance(spec, Collect):
        return wiring.read_end(stream, spec)
    match spec:
        case Null():
            return null
        case Inherit():
            return wiring.give(fcntl.fcntl(inherited, fcntl.F_DUPFD_CLOEXEC, 3))
        case File(path=path):
            wiring.files[stream] = path
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            return wiring.give(_open(stream, path, flags))
        case Pipe():
            return wiring.read_end(stream, spec)


def wire_further(
    wiring: Wiring, specs: Mapping[int, DescriptorSpec], confidential: Confidential | None, *, stored: bool
) -> None:
    """Open the further descriptors; `stored`: known bytes come from a file, since nobody may be there to
    feed them."""
    for number, spec in specs.items():
        wiring.pairs.append((_further(wiring, number, spec, confidential, stored), number))


def _further(
    wiring: Wiring, number: int, spec: DescriptorSpec, confidential: Confidential | None, stored: bool
) -> int:
    if number < 3:
        raise InvalidDescriptor(
            f"descriptor {number} is a standard stream; use stdin, stdout and stderr of the spec",
            descriptor=number,
            reason="reserved",
        )
    match spec:
        case Data(data=data):
            return wiring.give(_stored(data)) if stored else wiring.write_end(number, data)
        case Confided():
            if confidential is None or number not in confidential.descriptors:
                raise InvalidDescriptor(
                    f"descriptor {number} is confided, but spawn was given no bytes for it",
                    descriptor=number,
                    reason="missing",
                )
            data = confidential.descriptors[number]
            return wiring.give(_stored(data)) if stored else wiring.write_end(number, data)
        case Pipe():
            return wiring.write_end(number, None)
        case Outlet(into=into):
            return wiring.read_end(number, into)
        case OpenPath(path=path, access=access):
            kind = os.O_RDONLY | os.O_NONBLOCK if access == "read" else os.O_PATH
            descriptor = wiring.give(_open(number, path, kind | os.O_NOFOLLOW | os.O_CLOEXEC))
            if access == "read":
                os.set_blocking(
                    descriptor, True
                )  # it was opened without waiting for a writer, should it be a fifo
            return descriptor


def _open(stream: StreamId, path: str, flags: int) -> int:
    try:
        return lift(os.open(path, flags, 0o600))
    except (OSError, ValueError) as problem:
        number = problem.errno if isinstance(problem, OSError) else errno.EINVAL
        if number in (errno.EMFILE, errno.ENFILE):
            raise
        text = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise InvalidDescriptor(
            f"{path!r} cannot be opened for {stream}: {text}; nothing was run",
            descriptor=stream,
            path=path,
            reason=errno.errorcode.get(number or 0, str(number)),
        ) from None


def _stored(data: bytes) -> int:
    """Bytes in a file without a name: input for a process that may outlive this one."""
    descriptor = lift(os.memfd_create("seam-stdin", os.MFD_CLOEXEC))
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
