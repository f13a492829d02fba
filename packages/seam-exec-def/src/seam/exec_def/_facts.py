"""What an executor says about itself."""

from __future__ import annotations

from seam.kernel import Value
from seam.sandbox_def import Mode


class ExecutorFacts(Value):
    """For notes in a prompt and for results; never for a tool's name, description or parameters."""

    executor: str
    """Mechanism, for instance `local`."""
    version: str
    dialect: str
    """The shell's language: `bash`, `sh`, `zsh`, `pwsh`, ..."""
    shell: str
    """Absolute path of the shell in the world."""
    world_id: str
    sandbox_mode: Mode
    """`full-access` where nothing confines."""
    confines: bool
    """Whether commands are confined at all. If not, a request to widen is satisfied already and asks nobody."""
    workspace: str
    """Absolute path that stands for the workspace where a request names none."""
    max_timeout: float
    """Seconds; a longer timeout is lowered to this."""
