"""Configuration of the Landlock runtime."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from seam.kernel import DeploymentPath

LauncherChoice = Literal["auto", "static", "python"]
"""Which launcher: the compiled one if the wheel has it and else the one in Python, or only one of them."""


class LandlockConfig(BaseModel):
    """Configuration of the row `implement.sandbox_runtime` with `use = "landlock"`.

    Attributes:
        launcher: see `LauncherChoice`.
        probe_timeout: seconds that the self-test may take.
        shared_memory: whether /dev/shm is open to commands. Without it semaphores between processes (Python's
            multiprocessing) do not work; with it the shared memory of other programs is a gap.
        control_groups: whether limits of processes and memory use control groups where they can be written. Moving
            a process into one waits for the whole kernel (8 to 20 ms on a busy machine, unless the hierarchy is
            mounted with `favordynmods`); without them a root caller has the gap `process-limit`.
        connect_timeout: seconds for one address of a host on the allow-list of the network.
        temporary: folder below which private temporary folders are made.
        probe_retry: seconds for which a self-test that found something wrong is believed.
        verdicts: folder where results of self-tests are kept for this boot, `None` for `seam` in
            `$XDG_RUNTIME_DIR` or else in `~/.cache`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    launcher: LauncherChoice = "auto"
    probe_timeout: float = Field(default=10.0, gt=0)
    shared_memory: bool = True
    control_groups: bool = True
    connect_timeout: float = Field(default=10.0, gt=0)
    temporary: str = "/tmp"
    probe_retry: float = Field(default=60.0, ge=0)
    verdicts: DeploymentPath | None = None
