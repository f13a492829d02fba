"""What a model may say to `shell`. This is the one schema; nothing of the executor behind it may appear here."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

DESCRIPTION = (
    "Run a shell command and return its output and exit code. Each call is a fresh, non-interactive shell: no state is kept "
    "between calls and nothing can be typed into it. Processes that outlive the command are ended unless background is true."
)


class ShellParameters(BaseModel):
    """Parameters of `shell`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str = Field(description="The command, as you would type it into a shell.")
    description: str | None = Field(
        default=None,
        max_length=500,
        description="What the command does, in a few words, for the person who watches.",
    )
    workdir: str | None = Field(
        default=None,
        description="Folder to run in; relative paths start at the workspace. Default: the workspace.",
    )
    timeout: float | None = Field(
        default=None,
        gt=0,
        description="Seconds after which the command is ended. Does not apply in the background.",
    )
    background: bool = Field(
        default=False,
        description="Return at once and let the command go on as a job that can be read, awaited and stopped.",
    )
    permissions: Literal["workspace-write", "full-access"] | None = Field(
        default=None,
        description="Ask for wider access for this call alone, after a command was denied. Needs a justification; a person may be asked.",
    )
    justification: str | None = Field(
        default=None,
        max_length=1000,
        description="Why this call needs wider permissions, for the person who decides.",
    )
