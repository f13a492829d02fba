"""What the runtime says of a start that failed, in the words of seam-exec-def."""

from __future__ import annotations

from seam.exec_def import (
    BadWorkdir,
    EnvironmentTooLarge,
    ExecError,
    ExecSpec,
    ExecutorClosed,
    InvalidEnvironment,
    ResourcesExhausted,
    ShellNotFound,
    StartFailed,
)
from seam.exec_def import WorldLost as ExecWorldLost
from seam.subprocess_def import (
    ArgumentListTooLong,
    BadWorkingDirectory,
    ExecutableNotFound,
    NotExecutable,
    NulInArgument,
    OutOfMemory,
    RuntimeClosed,
    SubprocessError,
    TooManyDescriptors,
    TooManyProcesses,
    WorldLost,
)
from seam.subprocess_def import (
    InvalidEnvironment as BadName,
)

_WHY = {
    "missing": "it does not exist",
    "not_a_directory": "it is not a directory",
    "permission": "permission is denied",
    "too_long": "its path is too long",
    "relative": "it is not absolute",
}


def translate(error: SubprocessError, spec: ExecSpec) -> ExecError:
    """Return the executor's error for a start that failed; what nobody has a class for keeps its words."""
    match error:
        case BadWorkingDirectory():
            return _bad_workdir(error, spec)
        case ExecutableNotFound() | NotExecutable():
            reason = str(error.facts.get("reason", "missing"))
            return ShellNotFound(
                f"the shell {spec.argv[0]} cannot be run ({reason}); it was there when the executor started",
                shell=spec.argv[0],
                reason=reason,
            )
        case ArgumentListTooLong() | BadName() | NulInArgument():
            return _environment(error)
        case TooManyDescriptors():
            return _exhausted(error, "descriptors", "too many open files")
        case TooManyProcesses():
            return _exhausted(error, "processes", "no more processes")
        case OutOfMemory():
            return _exhausted(error, "memory", "no memory for another process")
        case RuntimeClosed():
            return ExecutorClosed(
                "what runs processes is being disposed; nothing was started", executor=spec.executor
            )
        case WorldLost():
            world = str(error.facts.get("world_id", ""))
            return ExecWorldLost(
                f"the world {world} where commands run is lost: {error.message}",
                world_id=world,
                reason=error.message,
            )
        case _:
            return StartFailed(
                f"{spec.argv[0]} could not be started: {error.message}",
                program=spec.argv[0],
                reason=error.message,
            )


def _bad_workdir(error: SubprocessError, spec: ExecSpec) -> BadWorkdir:
    reason = str(error.facts.get("reason", "other"))
    why = _WHY.get(reason, error.message)
    return BadWorkdir(
        f"the working directory {spec.workdir!r} cannot be used: {why}; nothing was run",
        workdir=spec.workdir,
        reason=reason,
    )


def _environment(error: SubprocessError) -> ExecError:
    # resolve has checked what it could see: what is left is the value of a secret
    name = str(error.facts.get("name", ""))
    if isinstance(error, ArgumentListTooLong):
        size, limit = error.facts.get("size"), error.facts.get("limit")
        return EnvironmentTooLarge(
            f"the environment is more than the system takes: {name or 'arguments and environment together'} "
            f"({size} bytes, limit {limit})",
            variable=name,
            size=size,
            limit=limit,
        )
    return InvalidEnvironment(
        f"the environment variable {name!r} cannot be given to a process: {error.message}",
        variable=name,
        reason=error.code,
    )


def _exhausted(error: SubprocessError, resource: str, words: str) -> ResourcesExhausted:
    return ResourcesExhausted(
        f"{words}: the system refused the start, and nothing was run; try again when something else has ended "
        f"({error.message})",
        resource=resource,
        reason=error.message,
    )
