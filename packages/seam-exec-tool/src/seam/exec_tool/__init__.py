"""The model-facing `shell` tool. Consumer of `exec` and, where it is there, `jobs`."""

from typing import TYPE_CHECKING

from seam.kernel.lazy import lazy_exports

if TYPE_CHECKING:
    from seam.exec_tool._config import ShellToolConfig
    from seam.exec_tool._parameters import ShellParameters
    from seam.exec_tool._plugin import exec_tool, shell_tool
    from seam.exec_tool._value import ShellValue, StreamValue
else:  # what a type checker sees above is looked up when it is first used
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "_config": "ShellToolConfig",
            "_parameters": "ShellParameters",
            "_plugin": "exec_tool shell_tool",
            "_value": "ShellValue StreamValue",
        },
    )

__all__ = ["ShellParameters", "ShellToolConfig", "ShellValue", "StreamValue", "exec_tool", "shell_tool"]
