"""Configuration of the local implementer."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from seam.kernel import Seconds

ContainmentChoice = Literal["auto", "launcher", "server", "scan"]


class LocalSubprocessConfig(BaseModel):
    """Options of `[implement.subprocess] use = "local"`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    containment: ContainmentChoice = Field(
        default="auto",
        description="How process trees are held together. auto: launcher, or server where it cannot run.",
    )
    cgroup: Literal["off", "auto", "required"] = Field(
        default="off",
        description="A cgroup v2 of its own for each process: auto where one can be written, required or refuse.",
    )
    spill_folder: str | None = Field(
        default=None,
        description="Where output beyond the windows goes. None: a private folder, removed with the runtime. "
        "A folder that is named here is created with mode 0700 and its files stay.",
    )
    read_bytes: PositiveInt = Field(default=1 << 20, description="Largest single read of a stream, in bytes.")
    pipe_bytes: PositiveInt = Field(
        default=1 << 20, description="Size that a busy pipe is enlarged to, in bytes (F_SETPIPE_SZ)."
    )
    settle: Seconds = Field(
        ge=0,
        default=0.02,
        description="Seconds that a descendant, already on its way out at the leader's exit, is given before it counts "
        "as a survivor.",
    )
    patience: Seconds = Field(
        gt=0,
        default=5.0,
        description="Seconds after SIGKILL before a process that does not go (uninterruptible sleep) is given up.",
    )
    file_interval: Seconds = Field(
        gt=0,
        default=0.1,
        description="Seconds between looks at the size of a file that a detached process writes, while somebody waits.",
    )
