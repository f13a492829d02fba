"""The model-facing `shell` tool. Consumer of `exec` and, where it is there, `jobs`."""

from seam.exec_tool._config import ShellToolConfig
from seam.exec_tool._parameters import ShellParameters
from seam.exec_tool._plugin import exec_tool, shell_tool
from seam.exec_tool._value import ShellValue, StreamValue

__all__ = ["ShellParameters", "ShellToolConfig", "ShellValue", "StreamValue", "exec_tool", "shell_tool"]
