"""Everything that can go wrong before a program runs, and while its handle is used."""

from __future__ import annotations

from seam.kernel import SeamError


class SubprocessError(SeamError):
    """Root of the errors of seam-subprocess-def."""

    code = "SUBPROCESS_ERROR"


class SpawnFailed(SubprocessError):
    """Nothing was started. The subclasses name the culprit; this one stands for an errno without a name of
    its own. Facts: `errno` (symbol such as `EIO`), `argv0`."""

    code = "SPAWN_FAILED"


class ExecutableNotFound(SpawnFailed):
    """No such program in this world. Facts: `argv0`, `searched` (the folders looked into, empty for a
    path)."""

    code = "EXECUTABLE_NOT_FOUND"
    retryable = "no"


class NotExecutable(SpawnFailed):
    """The file is there and cannot be run. Facts: `argv0`, `path`, `reason` (`permission`, `is_a_directory`,
    `bad_format`, `missing_interpreter`)."""

    code = "NOT_EXECUTABLE"
    retryable = "no"


class BadWorkingDirectory(SpawnFailed):
    """The working directory cannot be entered. Facts: `cwd`, `reason` (`missing`, `not_a_directory`,
    `permission`, `relative`, `too_long`, `other`)."""

    code = "BAD_WORKING_DIRECTORY"
    retryable = "no"


class ArgumentListTooLong(SpawnFailed):
    """The kernel's limit for arguments and environment is exceeded (execve(2), E2BIG).

    Facts: `kind` (`argument`, `environment` or `total`), `index` (position in argv) or `name` (of the
    variable), `size` and `limit` in bytes without the closing NUL. One string may hold
    `SpawnLimits.string_bytes`.
    """

    code = "ARGUMENT_LIST_TOO_LONG"
    retryable = "no"


class NulInArgument(SpawnFailed):
    """A NUL byte in an argument, environment entry or path, which no program could receive.

    Facts: `kind` (`argument`, `environment`, `cwd`, `path`), `index` or `name`."""

    code = "NUL_IN_ARGUMENT"
    retryable = "no"


class InvalidEnvironment(SpawnFailed):
    """An environment name is empty or contains `=`. Facts: `name`."""

    code = "INVALID_ENVIRONMENT"
    retryable = "no"


class InvalidDescriptor(SpawnFailed):
    """A descriptor of the spec cannot be given. Facts: `descriptor`, `reason`, `path` where it has one."""

    code = "INVALID_DESCRIPTOR"
    retryable = "no"


class TooManyProcesses(SpawnFailed):
    """The system refused another process (EAGAIN of clone(2)). Facts: `argv0`."""

    code = "TOO_MANY_PROCESSES"
    retryable = "yes"


class TooManyDescriptors(SpawnFailed):
    """Too many open files, in this process or in the system. Facts: `scope` (`process`, `system`),
    `limit`."""

    code = "TOO_MANY_DESCRIPTORS"
    retryable = "yes"


class OutOfMemory(SpawnFailed):
    """The system has no memory for another process. Facts: `argv0`."""

    code = "OUT_OF_MEMORY"
    retryable = "yes"


class NotSupported(SubprocessError):
    """This implementer honestly lacks a capability. Facts: `capability`."""

    code = "NOT_SUPPORTED"
    retryable = "no"


class UnknownSignal(SubprocessError):
    """No signal of this name in this world. Facts: `signal`."""

    code = "UNKNOWN_SIGNAL"
    retryable = "no"


class StreamUnavailable(SubprocessError):
    """A stream is asked for in a way that the spec did not choose. Facts: `stream`, `wanted`, `kind`."""

    code = "STREAM_UNAVAILABLE"
    retryable = "no"


class RuntimeClosed(SubprocessError):
    """The runtime is closing or closed and starts nothing any more."""

    code = "SUBPROCESS_RUNTIME_CLOSED"
    retryable = "no"


class RecordUnusable(SubprocessError):
    """A record does not lead to a process. Facts: `record`, `reason` (`missing`, `malformed`, `other_world`,
    `exists`, `unwritable`). A process that is found to have ended is no error: its exit says so."""

    code = "RECORD_UNUSABLE"
    retryable = "no"


class WorldLost(SubprocessError):
    """The world cannot be reached any more. Facts: `world_id`. What ran there has ended as `lost`."""

    code = "WORLD_LOST"
    retryable = "unknown"
