"""What a caller asks for."""

from __future__ import annotations

from seam.exec_def._environment import Environment
from seam.exec_def._output import OutputWindow, StreamMode
from seam.kernel import Value
from seam.sandbox_def import Widening


class ExecRequest(Value):
    """A command as a caller wants it. What is `None` is decided by the executor in `resolve`.

    Nothing is checked here beyond types: `resolve` refuses what cannot work, with an error that says what to do.
    """

    command: str
    """Text for the shell (`ShellExecutor.facts` says which); every call gets a shell of its own."""
    workspace: str | None = None
    """Absolute path of the world: where relative paths start, and what a confining executor may let the command write."""
    workdir: str | None = None
    """Path of the world; a relative one starts at the workspace, which also stands for `None`."""
    timeout: float | None = None
    """Seconds after which a foreground command is ended. Beyond the executor's maximum it is lowered, and the spec says so."""
    idle_timeout: float | None = None
    """Seconds without any output after which a foreground command is ended."""
    environment: Environment | None = None
    stdin: bytes | None = None
    """What the command reads. Without it, standard input is at its end at once."""
    streams: StreamMode | None = None
    """Whether both streams are one, in write order. A job that is read by one cursor asks for `merged`."""
    output: OutputWindow | None = None
    widening: Widening | None = None
    """A wish for a strictly wider sandbox mode, for this call alone; approval is the caller's business."""
