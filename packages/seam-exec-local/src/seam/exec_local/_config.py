"""Everything that can be tuned, with units."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from seam.exec_def import OutputWindow, SecretRef, StreamMode, SurvivorPolicy
from seam.exec_local._shells import START_UP_VARIABLES, UnknownShell, dialect_of
from seam.kernel import Seconds

Positive = Annotated[Seconds, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[Seconds, Field(ge=0, allow_inf_nan=False)]

INHERITED = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
)

PRESET = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "CLICOLOR": "0",
    "PY_COLORS": "0",
    "CARGO_TERM_COLOR": "never",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GH_PAGER": "cat",
    "AWS_PAGER": "",
    "EDITOR": "false",
    "VISUAL": "false",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "force",
    "SUDO_ASKPASS": "false",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PYTHONUNBUFFERED": "1",
}


class LocalExecConfig(BaseModel):
    """Configuration of the plugin `local`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shell: str = Field(default="bash", min_length=1)
    """Name, looked up in the world's PATH, or absolute path."""
    workspace: str | None = None
    """Absolute path that stands for the workspace of requests that name none; without it, the world's own place."""
    timeout: Positive = 120.0
    """Seconds, where a request gives no timeout."""
    max_timeout: Positive = 3600.0
    """Seconds; longer timeouts are lowered to this."""
    idle_timeout: Positive | None = None
    """Seconds without output after which a foreground command is ended, where a request gives none; unset: never."""
    grace: NotNegative = 2.0
    """Seconds between SIGTERM and SIGKILL."""
    drain: NotNegative = 0.5
    """Seconds for which output is still read when the shell is over and others hold its streams."""
    guard: Positive = 5.0
    """Seconds beyond its own bounds after which a runtime that does not answer is given up."""
    survivors: SurvivorPolicy = "end"
    """What happens to processes that are alive when the shell is over and its output is drained."""
    streams: StreamMode = "separate"
    """Where a request does not choose: two streams, or one in write order."""
    output: OutputWindow = OutputWindow(head=65_536, tail=65_536, spill=1_073_741_824)
    """Bytes kept of each stream, where a request does not say."""
    max_output: OutputWindow = OutputWindow(head=16_777_216, tail=16_777_216, spill=17_179_869_184)
    """Bytes that a request can ask for at most."""
    max_command: int = Field(default=16_777_216, gt=0)
    """Bytes that a command may have."""
    inherit: tuple[str, ...] = INHERITED
    """Variables taken from the world's own environment: names, or beginnings that end in `*`."""
    preset: dict[str, str] = Field(default_factory=PRESET.copy)
    """What makes programs behave with nobody at the terminal. Giving this replaces the whole preset."""
    environment: dict[str, str | SecretRef | None] = Field(
        default_factory=dict[str, "str | SecretRef | None"]
    )
    """On top of the preset, for every command; `None` takes a variable out."""

    @field_validator("shell")
    @classmethod
    def _known(cls, shell: str) -> str:
        try:
            dialect_of(shell)
        except UnknownShell as error:
            raise ValueError(error.message) from None
        return shell

    @field_validator("workspace")
    @classmethod
    def _absolute(cls, workspace: str | None) -> str | None:
        if workspace is not None and not workspace.startswith("/"):
            raise ValueError(f"{workspace!r} is not an absolute path of the world")
        return workspace

    @model_validator(mode="after")
    def _consistent(self) -> LocalExecConfig:
        if self.timeout > self.max_timeout:
            raise ValueError(f"timeout ({self.timeout} s) is more than max_timeout ({self.max_timeout} s)")
        for field in ("preset", "environment"):
            for name in getattr(self, field):
                if name in START_UP_VARIABLES:
                    raise ValueError(
                        f"{field}.{name} would make the shell run something before each command; leave it out"
                    )
                if not name or "=" in name or "\0" in name:
                    raise ValueError(f"{field}: {name!r} is no name for a variable")
        return self
