"""Configuration of the consumer."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ShellToolConfig(BaseModel):
    """How much a model reads, and what happens when a command takes too long."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    head_bytes: int = Field(default=8 * 1024, ge=0, le=1024 * 1024)
    """Bytes kept of the beginning of each stream."""
    tail_bytes: int = Field(default=16 * 1024, ge=0, le=1024 * 1024)
    """Bytes kept of the end of each stream."""
    spill_bytes: int = Field(default=64 * 1024 * 1024, ge=0)
    """Bytes of each stream that go to disk at most, once it is larger than what is kept; 0: none."""
    text_limit: int = Field(default=40_000, ge=500)
    """Characters of the whole text that a model reads."""
    on_timeout: Literal["end", "hand_over"] = "end"
    """Whether a command that reaches its time limit is ended or goes on as a job."""
    background: Literal["session", "durable"] = "session"
    """Whether a command in the background ends with its session, or outlives the host and belongs to the agent."""
    start_deadline: float = Field(default=30.0, gt=0)
    """Seconds that starting a command in the background may take."""
