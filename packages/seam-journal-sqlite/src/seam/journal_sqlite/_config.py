"""Configuration of the journal."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from seam.kernel import DeploymentPath, Seconds


class SqliteJournalConfig(BaseModel):
    """Where the journal lies and what it may cost."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: DeploymentPath
    """The database file, on a local file system. Its WAL lies beside it, values and locks in the folder `<path>.d`."""
    busy_timeout: Seconds = Field(default=10.0, gt=0)
    """Seconds to wait for another process that is writing, before the journal is unavailable."""
    value_bytes: int = Field(default=128 * 1024, ge=1024)
    """A record longer than this has its largest values moved to files of their own."""
    max_bytes: int = Field(default=1024 * 1024 * 1024, ge=64 * 1024)
    """Bytes of records and values that are kept; beyond it the oldest turns that are over are forgotten, each as a whole."""
    max_batch: int = Field(default=256, ge=1)
    """Appends that share one transaction at most."""
    poll: Seconds = Field(default=0.25, gt=0)
    """Seconds between two looks of a follower for what other processes wrote."""
