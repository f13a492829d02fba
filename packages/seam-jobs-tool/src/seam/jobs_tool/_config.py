"""Configuration of the consumer."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from seam.kernel import Seconds


class JobsToolConfig(BaseModel):
    """How much a model reads, and how long it may wait."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    read_bytes: int = Field(default=16 * 1024, ge=256, le=1024 * 1024)
    """Bytes of output that one read answers at most."""
    list_limit: int = Field(default=50, ge=1)
    """Jobs that one list answers at most, the newest ones."""
    wait_limit: Seconds = Field(default=300.0, gt=0)
    """Seconds that one wait may take at most; a longer timeout is lowered to this, and the answer says so."""
    call_deadline: Seconds = Field(default=60.0, gt=0)
    """Seconds that any other call may take."""
