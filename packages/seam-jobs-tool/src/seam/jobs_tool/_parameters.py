"""What a model may say about jobs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Parameters(BaseModel):
    """Base: frozen, no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ListParameters(Parameters):
    """Parameters of `job_list`."""

    running_only: bool = Field(default=False, description="Leave out jobs that have ended.")


class ReadParameters(Parameters):
    """Parameters of `job_read`."""

    job: str = Field(description="Id of the job.")
    cursor: int | None = Field(
        default=None,
        ge=0,
        description="Where to read on: the cursor that the last read answered. Without it, the end of the output.",
    )


class WaitParameters(Parameters):
    """Parameters of `job_wait`."""

    jobs: tuple[str, ...] = Field(
        min_length=1, max_length=100, description="Ids of jobs; returns when one of them has ended."
    )
    timeout: float = Field(default=30.0, ge=0, description="Seconds to wait at most.")
    cursor: int | None = Field(
        default=None,
        ge=0,
        description="With one job: return as soon as it has output beyond this cursor, too. 0 means any output.",
    )


class SendParameters(Parameters):
    """Parameters of `job_send`."""

    job: str = Field(description="Id of the job.")
    text: str = Field(description="Text for its standard input; include the newline that ends a line.")


class StopParameters(Parameters):
    """Parameters of `job_stop`."""

    job: str = Field(description="Id of the job.")
