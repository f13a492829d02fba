"""Programs on this machine, each in a contained tree."""

from seam.subprocess_local._config import LocalSubprocessConfig
from seam.subprocess_local._plugin import local
from seam.subprocess_local._runtime import LocalSubprocessRuntime, open_runtime

__all__ = [
    "LocalSubprocessConfig",
    "LocalSubprocessRuntime",
    "local",
    "open_runtime",
]
