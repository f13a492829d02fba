"""What became of a command."""

from __future__ import annotations

from datetime import datetime

from seam.exec_def._confinement import Containment, SandboxFacts
from seam.exec_def._ending import Cause, Drain, EndedBy, HookFailure, Survivor, TimeSplit, Usage
from seam.exec_def._output import StreamOutput
from seam.exec_def._spec import Limits
from seam.kernel import Value


class ExecResult(Value):
    """Facts, each independent of the others: a command can time out and exit 0."""

    cause: Cause
    ended_by: EndedBy
    exit_code: int | None
    """What the shell exited with; `None` if a signal ended it, if it is still running or if nobody knows."""
    signal: str | None
    """Name of the signal that ended the shell, for instance `SIGKILL`."""
    timed_out: bool = False
    """Whether the time limit passed while the command ran, whatever it exited with."""
    aborted: bool = False
    abort_reason: str | None = None
    handed_over: bool = False
    """Whether the command is still running in the hands of whoever took it over. The output is what there was
    then."""
    lost_reason: str | None = None
    """What is known of the loss where `cause` is `lost`."""
    stdout: StreamOutput
    stderr: StreamOutput | None
    """`None` where both streams are one: then `stdout` has the writes to either in their exact order."""
    drain: Drain
    survivors: tuple[Survivor, ...] = ()
    containment: Containment
    sandbox: SandboxFacts
    started_at: datetime
    """In UTC."""
    times: TimeSplit
    usage: Usage = Usage()
    limits: Limits
    """The limits that were in force: the effective timeout, and what was asked for if that was more."""
    hook_failures: tuple[HookFailure, ...] = ()

    @property
    def success(self) -> bool:
        """Whether the command came to its own end with exit code 0."""
        return self.cause == "exited" and self.exit_code == 0
