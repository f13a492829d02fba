"""Configuration of one MCP server."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from seam.kernel import Seconds


class McpClientConfig(BaseModel):
    """How the server is reached, and what is believed of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Program and arguments of a server that talks over its standard streams."""
    cwd: str | None = None
    """Its working directory, an absolute path of the world; by default the world's own."""
    env: dict[str, str] = Field(default_factory=dict[str, str])
    """Variables for the server. Not for secrets: a deployment file is read by many."""
    pass_env: tuple[str, ...] = ()
    """Variables that are passed on from the world's environment, beside the harmless ones."""
    url: str | None = Field(default=None, pattern=r"^https?://")
    """Endpoint of a server that talks streamable HTTP."""
    header_env: dict[str, str] = Field(default_factory=dict[str, str])
    """HTTP headers by the environment variable of this process that holds the value."""
    trusted: bool = False
    """Whether the server's hints about effects are believed; otherwise they are unknown, and its calls are asked about."""
    prefix: str = ""
    """Put before each tool's name."""
    rename: dict[str, str] = Field(default_factory=dict[str, str])
    """Names for tools whose own are not legal, or clash; the prefix is put before them too."""
    only: tuple[str, ...] | None = None
    """The server's names of the tools that are offered; all when absent."""
    connect_timeout: Seconds = Field(default=30.0, gt=0)
    """Seconds in which the server must have answered the handshake."""
    call_timeout: Seconds = Field(default=120.0, gt=0)
    """Seconds that a call may take."""
    grace: Seconds = Field(default=2.0, gt=0)
    """Seconds for a started server to end by itself when its input is closed, and again after SIGTERM."""
    stderr_bytes: int = Field(default=16 * 1024, ge=0)
    """Bytes of a started server's standard error that are kept for diagnosis."""

    @model_validator(mode="after")
    def _one_way(self) -> McpClientConfig:
        if bool(self.command) == (self.url is not None):
            raise ValueError("name exactly one of `command` and `url`")
        return self
