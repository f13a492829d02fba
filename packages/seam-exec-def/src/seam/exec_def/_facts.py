"""What an executor says about itself."""

from __future__ import annotations

from seam.exec_def._confinement import SandboxMode
from seam.exec_def._frozen import Frozen


class ExecutorFacts(Frozen):
    """For notes in a prompt and for results; never for a tool's name, description or parameters."""

    executor: str
    """Mechanism, for instance `local`."""
    version: str
    dialect: str
    """The shell's language: `bash`, `sh`, `zsh`, `pwsh`, ..."""
    shell: str
    """Absolute path of the shell in the world."""
    world_id: str
    sandbox_mode: SandboxMode
    confines: bool
    """Whether commands are confined at all. If not, a request to widen is satisfied already and asks
    nobody."""
    workdir: str
    """Absolute path where relative working directories start."""
    max_timeout: float
    """Seconds; a longer timeout is lowered to this."""
