"""Configuration of the registry."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from seam.kernel import DeploymentPath, Seconds


class LocalJobsConfig(BaseModel):
    """How many jobs, and how long the ended ones are remembered."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    running_limit: int = Field(default=1000, ge=1)
    """Running jobs of one owner at most."""
    ended_kept: int = Field(default=100, ge=0)
    """Ended jobs of one owner that are remembered at most; older ones are forgotten first."""
    tail_bytes: int = Field(default=64 * 1024, ge=0)
    """Bytes of the end of an ended job's output that stay readable from memory."""
    stop_timeout: Seconds = Field(default=30.0, gt=0)
    """Seconds that a producer's `cancel` may take before the job is reported as lost."""
    folder: DeploymentPath | None = None
    """Where records of durable jobs are kept, 0700; without it, durable jobs are refused."""
