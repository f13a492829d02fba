"""What a deployment can set for the chain."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from seam.kernel import Seconds

Positive = Annotated[Seconds, Field(gt=0, allow_inf_nan=False)]


class RuntimeConfig(BaseModel):
    """Bounds of the chain. Times are seconds (configuration also takes "2m"), sizes are bytes of JSON."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    deadline: Positive = 120.0
    """How long a call may run when neither its resolution, nor its tool, nor its provider says so."""
    grace: Positive = 5.0
    """How long code may go on after its deadline or cancellation before it is abandoned."""
    resolve_timeout: Positive = 30.0
    """How long a tool may take to say what a call would do."""
    hook_timeout: Positive = 30.0
    """How long the policy of one call (hooks, permissions) may take, and the hooks behind it."""
    approval_timeout: Positive | None = None
    """How long a person may take to answer; None means as long as the caller waits."""
    projection_timeout: Positive = 30.0
    """How long one provider may take to start and to state its tools or skills, where it states no deadline of its own."""
    describe_timeout: Positive = 30.0
    """How long a provider may take to describe a skill, where it states no deadline of its own."""
    journal_timeout: Positive = 30.0
    """How long the journal may take to write; beyond it the turn fails."""
    argument_bytes: PositiveInt = 4 * 1024 * 1024
    """Largest arguments of a call."""
    argument_depth: Annotated[int, Field(gt=0, le=100)] = 64
    """Deepest nesting of arguments, in levels."""
    result_bytes: PositiveInt = 4 * 1024 * 1024
    """Largest result of a call, value and content together."""
    schema_bytes: PositiveInt = 256 * 1024
    """Largest JSON Schema of one tool from outside."""
    document_bytes: PositiveInt = 1024 * 1024
    """Largest text of one skill."""
    summary_characters: PositiveInt = 4000
    """Longest text about a call that a person is shown, where the tool gives none."""
    instructions_characters: PositiveInt = 20_000
    """Longest `instructions()`, where the caller sets no limit."""
    parallel: PositiveInt = 16
    """How many parallel-safe calls of one batch run side by side."""
    edits: PositiveInt = 5
    """How often one call may be changed by the person who is asked."""
