"""Runs shell commands directly in the deployment's world."""

from seam.exec_local._config import LocalExecConfig
from seam.exec_local._executor import LocalExecutor
from seam.exec_local._plugin import executor, local
from seam.exec_local._wrapper import Bare, Ending, Launch, Wrapped, Wrapper

__all__ = [
    "Bare",
    "Ending",
    "Launch",
    "LocalExecConfig",
    "LocalExecutor",
    "Wrapped",
    "Wrapper",
    "executor",
    "local",
]
