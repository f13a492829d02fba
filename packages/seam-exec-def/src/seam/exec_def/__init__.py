"""The contract for running shell commands, and the service that knows secrets."""

from seam.exec_def._abort import (
    Abort,
)
from seam.exec_def._confinement import (
    Containment,
    Denial,
    Gap,
    Isolation,
    SandboxFacts,
    SandboxMode,
    SandboxOverride,
)
from seam.exec_def._ending import (
    Cause,
    Drain,
    EndedBy,
    Fate,
    HookFailure,
    ProcessRef,
    Survivor,
    SurvivorPolicy,
    TimeSplit,
    Usage,
)
from seam.exec_def._environment import (
    Environment,
    EnvironmentMode,
    SecretRef,
    Setting,
)
from seam.exec_def._errors import (
    BadTimeout,
    BadWorkdir,
    CommandTooLong,
    EnvironmentTooLarge,
    ExecError,
    ExecutorClosed,
    ExecutorUnavailable,
    InvalidCommand,
    InvalidEnvironment,
    InvalidRequest,
    ResourcesExhausted,
    SandboxUnavailable,
    SecretUnavailable,
    ShellNotFound,
    StartFailed,
    UnknownSecret,
    WorldLost,
)
from seam.exec_def._executor import (
    HandOver,
    ShellExecutor,
)
from seam.exec_def._facts import (
    ExecutorFacts,
)
from seam.exec_def._output import (
    KeptRange,
    LossReason,
    OutputChunk,
    OutputSlice,
    OutputWindow,
    StreamMode,
    StreamName,
    StreamOutput,
)
from seam.exec_def._process import (
    ExecProcess,
    Progress,
)
from seam.exec_def._request import (
    ExecRequest,
)
from seam.exec_def._result import (
    ExecResult,
)
from seam.exec_def._secrets import (
    Secrets,
)
from seam.exec_def._spec import (
    ExecSpec,
    Limits,
    ScriptDelivery,
)

__all__ = [
    "Abort",
    "BadTimeout",
    "BadWorkdir",
    "Cause",
    "CommandTooLong",
    "Containment",
    "Denial",
    "Drain",
    "EndedBy",
    "Environment",
    "EnvironmentMode",
    "EnvironmentTooLarge",
    "ExecError",
    "ExecProcess",
    "ExecRequest",
    "ExecResult",
    "ExecSpec",
    "ExecutorClosed",
    "ExecutorFacts",
    "ExecutorUnavailable",
    "Fate",
    "Gap",
    "HandOver",
    "HookFailure",
    "InvalidCommand",
    "InvalidEnvironment",
    "InvalidRequest",
    "Isolation",
    "KeptRange",
    "Limits",
    "LossReason",
    "OutputChunk",
    "OutputSlice",
    "OutputWindow",
    "ProcessRef",
    "Progress",
    "ResourcesExhausted",
    "SandboxFacts",
    "SandboxMode",
    "SandboxOverride",
    "SandboxUnavailable",
    "ScriptDelivery",
    "SecretRef",
    "SecretUnavailable",
    "Secrets",
    "Setting",
    "ShellExecutor",
    "ShellNotFound",
    "StartFailed",
    "StreamMode",
    "StreamName",
    "StreamOutput",
    "Survivor",
    "SurvivorPolicy",
    "TimeSplit",
    "UnknownSecret",
    "Usage",
    "WorldLost",
]
