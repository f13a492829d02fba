"""What a call would do, in words that permission, approval and journal understand without knowing the tool."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from seam.kernel import Value


class Run(Value):
    """Run a program.

    Attributes:
        dialect: the language of `text`: `bash`, `sh`, ..., or `argv` when there is no shell text.
        text: the command as its author wrote it.
        argv: the arguments as they will be run.
        workdir: a path of the world.
    """

    kind: Literal["run"] = "run"
    dialect: str
    text: str
    argv: tuple[str, ...] = ()
    workdir: str


class Read(Value):
    """Read a path of the world."""

    kind: Literal["read"] = "read"
    path: str


class Write(Value):
    """Create, change or remove a path of the world."""

    kind: Literal["write"] = "write"
    path: str


class Connect(Value):
    """Open a network connection."""

    kind: Literal["connect"] = "connect"
    host: str
    port: int | None = None


class Widen(Value):
    """Ask for a wider sandbox mode, for this call alone.

    Attributes:
        mode: the mode asked for.
        why: the justification that the caller gave.
    """

    kind: Literal["widen"] = "widen"
    mode: str
    why: str


Action = Annotated[Run | Read | Write | Connect | Widen, Field(discriminator="kind")]
