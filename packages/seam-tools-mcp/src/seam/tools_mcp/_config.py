"""Configuration of the door."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from seam.kernel import Seconds


class Token(BaseModel):
    """One client that may come in over HTTP.

    Attributes:
        principal: who it is; stands in the journal and in grants.
        env: environment variable of this process that holds the token; never the token itself.
        token: the token, for embedding only; a deployment file should name `env`.
        agent: the agent that it speaks for; by default the door's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    principal: Annotated[str, Field(min_length=1)]
    env: str | None = None
    token: SecretStr | None = None
    agent: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Token:
        if (self.env is None) == (self.token is None):
            raise ValueError("name exactly one of `env` and `token`")
        return self


class McpConfig(BaseModel):
    """How clients reach the door, and for whom it lets them in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    transport: Literal["stdio", "http"] = "stdio"
    """`stdio`: one client, which started this process. `http`: streamable HTTP for many (asyncio only)."""
    agent: str = "default"
    """The declared agent whose tools are served."""
    principal: str = "local"
    """Who stands behind a stdio client."""
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(default=8765, ge=0, le=65535)
    """TCP port; 0 lets the system choose."""
    path: str = Field(default="/mcp", pattern=r"^/")
    """Path of the endpoint."""
    tokens: tuple[Token, ...] = ()
    """Clients that may come in over HTTP; none means nobody may."""
    allowed_hosts: tuple[str, ...] = ()
    """Further `Host` headers that are accepted (`example.org:*`); loopback names always are."""
    approval_timeout: Seconds = Field(default=300.0, gt=0)
    """Seconds that a person has to answer a question that the client shows."""
    max_message_bytes: int = Field(default=4 * 1024 * 1024, ge=1024)
    """Bytes of one request over HTTP at most."""
    resource_bytes: int = Field(default=1024 * 1024, ge=1024)
    """Bytes of one resource (a spill file) that are read at most; the rest is said to be cut."""

    @model_validator(mode="after")
    def _http_needs_tokens(self) -> McpConfig:
        if self.transport == "http" and not self.tokens:
            raise ValueError(
                'transport = "http" needs at least one [[tokens]] entry: nobody may come in without one'
            )
        return self
