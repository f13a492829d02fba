"""How the streams of a process are connected: values, chosen by the caller, the same in every world."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, model_validator

from seam.kernel import Value

StandardStream = Literal["stdin", "stdout", "stderr"]

StreamId = StandardStream | int
"""A stream of a process: a standard stream by name, another descriptor by its number in the child (3 or
more)."""


class Null(Value):
    """The null device: an input that is at its end, an output that goes nowhere."""

    kind: Literal["null"] = "null"


class Pipe(Value):
    """A raw byte stream in the hands of the caller (`Process.sink`, `Process.source`).

    Nothing is buffered beyond the system's pipe: who does not read blocks the program."""

    kind: Literal["pipe"] = "pipe"


class Data(Value):
    """These bytes, then the end of input. A program that does not read them is no error."""

    kind: Literal["data"] = "data"
    data: bytes = Field(repr=False)


class Inherit(Value):
    """The host's own stream of that name."""

    kind: Literal["inherit"] = "inherit"


class Collect(Value):
    """Read continuously, bounded in memory, complete on disk up to a cap; see `CollectedStream`.

    A stream that fits into `max_bytes` never touches the disk."""

    kind: Literal["collect"] = "collect"
    max_bytes: NonNegativeInt = Field(description="Bytes kept in memory, head and tail windows together.")
    head_bytes: NonNegativeInt = Field(
        description="The part of max_bytes that keeps the start; the rest keeps the end."
    )
    spill_bytes: NonNegativeInt = Field(description="Largest size of the file on disk, in bytes; 0: no file.")

    @model_validator(mode="after")
    def _head_fits(self) -> Collect:
        if self.head_bytes > self.max_bytes:
            raise ValueError(f"head_bytes ({self.head_bytes}) is more than max_bytes ({self.max_bytes})")
        return self


class File(Value):
    """Straight into a file of the world, appended, created with mode 0600; for processes that outlive the
    host.

    The program writes it without anybody between: no window, no cap, no filter. It is read by absolute
    offset like a collected stream."""

    kind: Literal["file"] = "file"
    path: str


class SameAsStdout(Value):
    """stderr only: the pipe of stdout, so that both arrive in exact write order."""

    kind: Literal["stdout"] = "stdout"


class OpenPath(Value):
    """Descriptors only: a path of the world, opened without following a final symlink and handed over.

    `read` opens for reading; `location` opens the place only (O_PATH, for runners that bind by
    descriptor)."""

    kind: Literal["path"] = "path"
    path: str
    access: Literal["read", "location"]


class Confided(Value):
    """Descriptors only: bytes to read that are given at the start, in `Confidential`, and never in a spec."""

    kind: Literal["confided"] = "confided"


class Outlet(Value):
    """Descriptors only: a pipe that the child writes; the caller reads it raw or collected."""

    kind: Literal["outlet"] = "outlet"
    into: Annotated[Pipe | Collect, Field(discriminator="kind")]


StdinSpec = Annotated[Null | Pipe | Data, Field(discriminator="kind")]
StdoutSpec = Annotated[Null | Pipe | Inherit | Collect | File, Field(discriminator="kind")]
StderrSpec = Annotated[Null | Pipe | Inherit | Collect | File | SameAsStdout, Field(discriminator="kind")]
DescriptorSpec = Annotated[Data | Confided | Pipe | OpenPath | Outlet, Field(discriminator="kind")]
"""What a further descriptor is: `Data` and `Confided` (bytes the child reads), `Pipe` (the caller writes,
the child reads), `OpenPath`, or `Outlet` (the child writes, the caller reads)."""
