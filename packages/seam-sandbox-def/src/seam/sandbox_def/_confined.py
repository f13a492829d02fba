"""A command that is ready to run confined."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seam.kernel import Value
from seam.sandbox_def._enforcement import Enforcement
from seam.sandbox_def._text import Argument, WorldPath


class InheritedBytes(Value):
    """A descriptor from which the runner reads `data` to the end."""

    number: int
    data: bytes = Field(repr=False)  # it holds the command's environment, secrets included


class InheritedPath(Value):
    """A descriptor opened on the place `path` (`O_PATH | O_NOFOLLOW`, open(2)) right before the start, so that
    what is bound is what was there then, whatever the name comes to mean later."""

    number: int
    path: WorldPath


class Confined(Value):
    """What to start instead of the bare command, and how to look after it. Made by `SandboxRuntime.confine`,
    ended by `SandboxRuntime.release`, exactly once each.

    Attributes:
        token: names this confinement; random, no meaning.
        argv: the runner and its arguments, then `--`, then exactly the argv that was given.
        payload: index in `argv` at which the given argv begins.
        env: the whole environment of the runner, nothing else; the command's own is set inside.
        cwd: working directory of the runner; the command's own is set inside.
        inputs: descriptors that feed bytes to the runner.
        paths: descriptors opened on paths for the runner.
        status: number of the descriptor that the runner writes its status to, to be read to the end and given
            to `SandboxRuntime.read_status`. Nothing else may be inherited.
        temporary: the command's private `TMPDIR`, as it is named inside.
        enforcement: what holds.
        policy: digest of the policy.
    """

    token: str
    argv: tuple[Argument, ...]
    payload: int
    env: tuple[tuple[str, Argument], ...] = ()
    cwd: WorldPath = "/"
    inputs: tuple[InheritedBytes, ...] = ()
    paths: tuple[InheritedPath, ...] = ()
    status: int
    temporary: WorldPath | None = None
    enforcement: Enforcement
    policy: str


class LaunchStatus(Value):
    """What the runner's status descriptor said once it was closed.

    Attributes:
        started: whether the command itself was really started; the only source of this fact.
        exit_code: of the command, `None` when unknown or ended by a signal.
        signal: that ended the command, `None` when it exited or when the runner cannot tell.
        failure: why the command was not started, empty when it was.
        step: what failed, where the runner says so (`cwd`, `exec`, `restrict`, ...).
        error: error number of that step (errno(3)), 0 where there is none.
        survivors: pairs of process id (as it was inside) and name of what was alive when the command had ended, and
            was ended with it.
        ended: what the record knows: `exited`, `signalled`, or `unknown` (killed before it could report).
    """

    started: bool
    exit_code: int | None = None
    signal: int | None = None
    failure: str = ""
    step: str = ""
    error: int = 0
    survivors: tuple[tuple[int, str], ...] = ()
    ended: Literal["exited", "signalled", "unknown"] = "unknown"


class Released(Value):
    """What cleaning up did.

    Attributes:
        removed: paths of the world that the runner had made (mount points, private folders), now gone.
        left: what could not be removed, with the reason.
    """

    removed: tuple[WorldPath, ...] = ()
    left: tuple[tuple[WorldPath, str], ...] = ()
