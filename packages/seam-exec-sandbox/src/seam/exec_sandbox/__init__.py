"""Runs shell commands confined."""

from seam.exec_sandbox._plugin import SandboxExecConfig, sandbox
from seam.exec_sandbox._wrapper import SandboxWrapper

__all__ = ["SandboxExecConfig", "SandboxWrapper", "sandbox"]
