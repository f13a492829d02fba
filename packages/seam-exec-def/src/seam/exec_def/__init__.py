"""The contract for running shell commands, and the service that knows secrets."""

from typing import TYPE_CHECKING

from seam.kernel.lazy import lazy_exports

if TYPE_CHECKING:
    from seam.exec_def._abort import Abort
    from seam.exec_def._confinement import Containment, Isolation, SandboxFacts
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
    from seam.exec_def._environment import Environment, EnvironmentMode, SecretRef, Setting
    from seam.exec_def._errors import (
        BadTimeout,
        BadWorkdir,
        CommandTooLong,
        DetachedUnsupported,
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
    from seam.exec_def._executor import HandOver, Settled, ShellExecutor
    from seam.exec_def._facts import ExecutorFacts
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
    from seam.exec_def._process import ExecProcess, Progress
    from seam.exec_def._request import ExecRequest
    from seam.exec_def._result import ExecResult
    from seam.exec_def._secrets import Secrets
    from seam.exec_def._spec import ExecSpec, Limits, ScriptDelivery
    from seam.exec_def._text import LiveText, PlainText, plain_text
    from seam.exec_def._variables import Variables
else:  # what a type checker sees above is looked up when it is first used
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "_abort": "Abort",
            "_confinement": "Containment Isolation SandboxFacts",
            "_ending": (
                "Cause Drain EndedBy Fate HookFailure ProcessRef Survivor SurvivorPolicy TimeSplit Usage "
            ),
            "_environment": "Environment EnvironmentMode SecretRef Setting",
            "_errors": (
                "BadTimeout BadWorkdir CommandTooLong DetachedUnsupported EnvironmentTooLarge "
                "ExecError ExecutorClosed ExecutorUnavailable InvalidCommand InvalidEnvironment "
                "InvalidRequest ResourcesExhausted SandboxUnavailable SecretUnavailable ShellNotFound "
                "StartFailed UnknownSecret WorldLost "
            ),
            "_executor": "HandOver Settled ShellExecutor",
            "_facts": "ExecutorFacts",
            "_output": (
                "KeptRange LossReason OutputChunk OutputSlice OutputWindow StreamMode StreamName "
                "StreamOutput "
            ),
            "_process": "ExecProcess Progress",
            "_request": "ExecRequest",
            "_result": "ExecResult",
            "_secrets": "Secrets",
            "_spec": "ExecSpec Limits ScriptDelivery",
            "_text": "LiveText PlainText plain_text",
            "_variables": "Variables",
        },
    )

__all__ = [
    "Abort",
    "BadTimeout",
    "BadWorkdir",
    "Cause",
    "CommandTooLong",
    "Containment",
    "DetachedUnsupported",
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
    "HandOver",
    "HookFailure",
    "InvalidCommand",
    "InvalidEnvironment",
    "InvalidRequest",
    "Isolation",
    "KeptRange",
    "Limits",
    "LiveText",
    "LossReason",
    "OutputChunk",
    "OutputSlice",
    "OutputWindow",
    "PlainText",
    "ProcessRef",
    "Progress",
    "ResourcesExhausted",
    "SandboxFacts",
    "SandboxUnavailable",
    "ScriptDelivery",
    "SecretRef",
    "SecretUnavailable",
    "Secrets",
    "Setting",
    "Settled",
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
    "Variables",
    "WorldLost",
    "plain_text",
]
