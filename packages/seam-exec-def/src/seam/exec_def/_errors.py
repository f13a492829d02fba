"""What fails before a command has started. After the start everything is an `ExecResult`.

Two families, since a caller treats them differently: `InvalidRequest` (another request may work, the executor
is well) and `ExecutorUnavailable` (the same request may work elsewhere or later, the request is well).
"""

from __future__ import annotations

from seam.kernel import SeamError


class ExecError(SeamError):
    """Root of the errors of seam-exec-def."""

    code = "EXEC_ERROR"


class InvalidRequest(ExecError):
    """The request cannot be run by this executor as it stands."""

    code = "INVALID_REQUEST"
    retryable = "no"


class InvalidCommand(InvalidRequest):
    """The command is empty, or has a NUL byte, which no argument of a process can hold. Facts: `position`
    (character)."""

    code = "INVALID_COMMAND"
    position: int


class CommandTooLong(InvalidRequest):
    """The command is longer than the executor takes. Facts: `size`, `limit` (bytes)."""

    code = "COMMAND_TOO_LONG"
    size: int
    limit: int


class BadWorkdir(InvalidRequest):
    """The working directory cannot be used. Facts: `workdir`, `reason`."""

    code = "BAD_WORKDIR"
    workdir: str
    reason: str


class BadTimeout(InvalidRequest):
    """A time limit is zero, negative or not a number. Facts: `name` (the field), `value` (seconds)."""

    code = "BAD_TIMEOUT"
    name: str
    value: float


class InvalidEnvironment(InvalidRequest):
    """A variable has a name or value that an environment cannot hold. Facts: `variable`, `reason`."""

    code = "INVALID_ENVIRONMENT"
    variable: str
    reason: str


class EnvironmentTooLarge(InvalidRequest):
    """A variable, or the environment as a whole, is beyond the system's limit.

    Facts: `variable` (the largest one), `size`, `limit` (bytes).
    """

    code = "ENVIRONMENT_TOO_LARGE"
    variable: str
    size: int
    limit: int


class UnknownSecret(InvalidRequest):
    """The request names a secret that no source is configured for. Facts: `secret`."""

    code = "UNKNOWN_SECRET"
    secret: str


class ExecutorUnavailable(ExecError):
    """The executor, or what it stands on, cannot run anything now."""

    code = "EXECUTOR_UNAVAILABLE"


class ExecutorClosed(ExecutorUnavailable):
    """The executor has been disposed, or is being disposed. Facts: `executor`."""

    code = "EXECUTOR_CLOSED"
    retryable = "no"
    executor: str


class ShellNotFound(ExecutorUnavailable):
    """The configured shell is not in this world, or is not executable. Facts: `shell`, `reason`."""

    code = "SHELL_NOT_FOUND"
    retryable = "no"
    shell: str
    reason: str


class SecretUnavailable(ExecutorUnavailable):
    """A secret's source gave no value. The error text never holds a value. Facts: `secret`, `source`,
    `reason`."""

    code = "SECRET_UNAVAILABLE"
    secret: str
    source: str
    reason: str


class SandboxUnavailable(ExecutorUnavailable):
    """The confinement that the policy asks for cannot be had; nothing was run. Facts: `missing` (what, in words), `remedy`."""

    code = "SANDBOX_UNAVAILABLE"
    retryable = "no"
    missing: str
    remedy: str


class ResourcesExhausted(ExecutorUnavailable):
    """The system has no descriptor, process slot or memory left for a start. Facts: `resource`, `reason`."""

    code = "RESOURCES_EXHAUSTED"
    retryable = "yes"
    resource: str
    reason: str


class WorldLost(ExecutorUnavailable):
    """The world where commands run cannot be reached. Facts: `world_id`, `reason`."""

    code = "WORLD_LOST"
    world_id: str
    reason: str


class DetachedUnsupported(ExecutorUnavailable):
    """A command is to outlive the host, and this executor, or this command, cannot. Facts: `reason`."""

    code = "DETACHED_UNSUPPORTED"
    retryable = "no"
    reason: str


class StartFailed(ExecutorUnavailable):
    """The start failed for a reason that has no class of its own. Facts: `program`, `reason`; cause kept."""

    code = "START_FAILED"
    program: str
    reason: str
