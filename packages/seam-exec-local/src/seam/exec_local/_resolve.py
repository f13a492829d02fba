"""From a request to a spec: everything decided, nothing done."""

from __future__ import annotations

import posixpath
import sys
from dataclasses import dataclass

from seam.exec_def import (
    BadTimeout,
    BadWorkdir,
    CommandTooLong,
    EnvironmentTooLarge,
    ExecRequest,
    ExecSpec,
    InvalidCommand,
    Isolation,
    Limits,
    OutputWindow,
)
from seam.exec_local._config import LocalExecConfig
from seam.exec_local._environment import Environments, largest
from seam.exec_local._shells import Dialect
from seam.exec_local._wrapper import Wrapper
from seam.subprocess_def import SpawnLimits


@dataclass(frozen=True)
class Resolver:
    """What an executor knows when it decides a request.

    Attributes:
        config: of the plugin.
        shell: absolute path of the shell.
        dialect: how the shell is talked to.
        workspace: absolute path that stands for the workspace of requests that name none.
        environments: decides environments.
        limits: what one start can carry.
        wrapper: what goes around the shell.
        version: of the distribution that the wrapper comes from.
        usual: limits of a request without wishes, which most are.
    """

    config: LocalExecConfig
    shell: str
    dialect: Dialect
    workspace: str
    environments: Environments
    limits: SpawnLimits
    wrapper: Wrapper
    version: str
    usual: Limits

    def resolve(self, request: ExecRequest) -> ExecSpec:
        """Decide a request; the errors are those of `ShellExecutor.resolve`."""
        size = self._check_command(request.command)
        environment, carried = self.environments.decide(request.environment)
        argv = self.dialect.argv(self.shell, request.command)
        as_argument = size <= self.limits.string_bytes
        # the flags and the loader are far below the margin that the limit leaves for pointers
        carried += size if as_argument else 0
        if carried > self.limits.total_bytes:
            raise EnvironmentTooLarge(
                f"environment and arguments have {carried} bytes, and the system takes {self.limits.total_bytes}; the "
                f"longest variable is {largest(environment)}",
                variable=largest(environment),
                size=carried,
                limit=self.limits.total_bytes,
            )
        workdir = self._workdir(request)
        return ExecSpec.trusted(
            executor=self.wrapper.mechanism,
            executor_version=self.version,
            dialect=self.dialect.name,
            command=request.command,
            argv=argv,
            delivery="argument" if as_argument else "descriptor",
            workdir=workdir,
            environment=environment,
            stdin=request.stdin,
            streams=request.streams or self.config.streams,
            limits=self._limits(request),
            survivors=self.config.survivors,
            isolation=self._isolation(request, workdir),
            output=self._window(request.output),
        )

    def _check_command(self, command: str) -> int:
        if not command.strip():
            raise InvalidCommand("the command is empty; give text for the shell", position=0)
        position = command.find("\0")
        if position >= 0:
            raise InvalidCommand(
                f"the command has a NUL byte at character {position}, which no shell can take; write it as an escape, "
                "for instance printf '\\0'",
                position=position,
            )
        try:
            size = len(command.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError as error:
            raise InvalidCommand(
                f"the command has half of a character at {error.start} that has no bytes in UTF-8",
                position=error.start,
            ) from None
        if size > self.config.max_command:
            raise CommandTooLong(
                f"the command has {size} bytes, and this executor takes {self.config.max_command}; write the data to a file "
                "or pass it on standard input",
                size=size,
                limit=self.config.max_command,
            )
        return size

    def _workdir(self, request: ExecRequest) -> str:
        workspace = request.workspace if request.workspace is not None else self.workspace
        if not workspace.startswith("/"):
            raise _bad_workdir(workspace, "relative", "a workspace is an absolute path of the world")
        if request.workdir is None:
            path = workspace
        elif not request.workdir:
            raise _bad_workdir("", "empty", "leave it out to stay in the workspace")
        else:
            path = posixpath.join(workspace, request.workdir)
        if "\0" in path:
            raise _bad_workdir(path, "nul", "no path has a NUL byte")
        return _without_dots(path)

    def _limits(self, request: ExecRequest) -> Limits:
        if request.timeout is None and request.idle_timeout is None:
            return self.usual
        timeout = self._seconds("timeout", request.timeout)
        idle = self._seconds("idle_timeout", request.idle_timeout)
        if timeout is None:
            timeout = self.config.timeout
        capped = min(timeout, self.config.max_timeout)
        return Limits(
            timeout=capped,
            # JSON has no infinity
            asked_timeout=min(timeout, sys.float_info.max) if timeout > capped else None,
            idle_timeout=idle if idle is not None else self.config.idle_timeout,
            grace=self.config.grace,
            drain=self.config.drain,
        )

    def _seconds(self, name: str, value: float | None) -> float | None:
        if value is not None and not value > 0:
            raise BadTimeout(
                f"{name} is {value} s; give a number of seconds above 0, or leave it out for the default",
                name=name,
                value=value,
            )
        return value

    def _isolation(self, request: ExecRequest, workdir: str) -> Isolation:
        workspace = request.workspace if request.workspace is not None else self.workspace
        return self.wrapper.isolate(request, workspace=workspace, workdir=workdir)

    def _window(self, wish: OutputWindow | None) -> OutputWindow:
        if wish is None:
            return self.config.output
        most = self.config.max_output
        if wish.head <= most.head and wish.tail <= most.tail and wish.spill <= most.spill:
            return wish
        return OutputWindow(
            head=min(wish.head, most.head), tail=min(wish.tail, most.tail), spill=min(wish.spill, most.spill)
        )


def usual_limits(config: LocalExecConfig) -> Limits:
    """Return the limits of a request without wishes."""
    return Limits(
        timeout=config.timeout, idle_timeout=config.idle_timeout, grace=config.grace, drain=config.drain
    )


def _without_dots(path: str) -> str:
    # `.` and empty parts mean nothing; `..` is left to the system, since it goes through symlinks
    if "//" not in path and "/." not in path and not path.endswith("/"):
        return path
    return "/" + "/".join(part for part in path.split("/") if part not in ("", "."))


def _bad_workdir(workdir: str, reason: str, advice: str) -> BadWorkdir:
    return BadWorkdir(
        f"the working directory {workdir!r} cannot be used: {advice}", workdir=workdir, reason=reason
    )
