"""The folded implementer of `secrets`: values come from variables of the host, from files, or from commands.

Folded into the definition since there is one conceivable way to do it and no tool on the model's side. It is imported
through its entry point only, so that users of the contract do not pay for it.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Mapping

import anyio
from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from seam.exec_def._environment import SecretRef
from seam.exec_def._errors import SecretUnavailable, UnknownSecret
from seam.exec_def._secrets import Secrets
from seam.kernel import Context, DeploymentPath, Seconds, plugin
from seam.subprocess_def import Collect, Null, OwnedLifetime, SpawnSpec, SubprocessError, SubprocessRuntime

__all__ = ["Source", "SourcesConfig", "sources"]


class Source(BaseModel):
    """Where the value of one secret comes from: exactly one of the three. One newline at the end is not part of the value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    environment: str | None = Field(default=None, min_length=1)
    """A variable of the host's own environment."""
    file: DeploymentPath | None = None
    """A file on the host's machine, beside the deployment file where relative."""
    command: tuple[str, ...] | None = Field(default=None, min_length=1)
    """A program of the world with its arguments (no shell) that prints the value."""

    @model_validator(mode="after")
    def _one(self) -> Source:
        given = [name for name in ("environment", "file", "command") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of environment, file, command; here are {given or 'none'}")
        return self

    @property
    def kind(self) -> str:
        """Which of the three it is, with its name: never a value."""
        if self.environment is not None:
            return f"environment variable {self.environment}"
        return f"file {self.file}" if self.file is not None else f"command {(self.command or ('',))[0]}"


class SourcesConfig(BaseModel):
    """Configuration of the plugin `sources`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: dict[str, Source] = Field(default_factory=dict[str, Source])
    """By the name that requests and environments use."""
    command_timeout: Seconds = Field(default=10.0, gt=0)
    """Seconds that a command may take to print a secret."""
    limit: int = Field(default=65_536, gt=0)
    """Bytes that a value may have."""


class ConfiguredSecrets(Secrets):
    """Reads each value anew each time; keeps none."""

    def __init__(self, config: SourcesConfig, runtime: SubprocessRuntime | None) -> None:
        self._config = config
        self._runtime = runtime

    def knows(self, reference: SecretRef) -> bool:
        """Whether the deployment names a source for it."""
        return reference.secret in self._config.sources

    async def reveal(self, references: Iterable[SecretRef]) -> Mapping[SecretRef, SecretStr]:
        """Read the value of each."""
        return {reference: SecretStr(await self._read(reference.secret)) for reference in references}

    async def _read(self, name: str) -> str:
        source = self._config.sources.get(name)
        if source is None:
            raise UnknownSecret(
                f"no source is configured for the secret {name!r}; add [implement.secrets.sources.{name}] to the deployment",
                secret=name,
            )
        if source.environment is not None:
            value = os.environ.get(source.environment)
            if value is None:
                raise _unavailable(name, source, "the variable is not set")
        elif source.file is not None:
            value = self._decoded(name, source, await self._file(name, source))
        else:
            value = self._decoded(name, source, await self._output(name, source))
        if not value or "\0" in value:
            raise _unavailable(
                name, source, "the value is empty" if not value else "the value has a NUL byte"
            )
        return value

    async def _file(self, name: str, source: Source) -> bytes:
        try:
            async with await anyio.open_file(str(source.file), "rb") as stream:
                return await stream.read(self._config.limit + 1)
        except OSError as error:
            raise _unavailable(name, source, error.strerror or type(error).__name__) from error

    async def _output(self, name: str, source: Source) -> bytes:
        if self._runtime is None:
            raise _unavailable(name, source, "nothing in this deployment runs programs (key `subprocess`)")
        spec = SpawnSpec(
            argv=source.command or (),
            cwd=self._runtime.cwd,
            env=self._runtime.environment,
            stdin=Null(),
            stdout=Collect(
                max_bytes=self._config.limit + 1, head_bytes=self._config.limit + 1, spill_bytes=0
            ),
            stderr=Null(),
            drain=0.0,
            grace=1.0,
            survivors="end",
            lifetime=OwnedLifetime(),
        )
        try:
            with anyio.move_on_after(self._config.command_timeout):
                async with await self._runtime.spawn(spec) as process:
                    end = await process.wait()
                    if end.exit_code != 0:
                        raise _unavailable(name, source, f"it ended with {end.signal or end.exit_code}")
                    return process.collected("stdout").head()
        except SubprocessError as error:
            raise _unavailable(name, source, error.message) from error
        raise _unavailable(name, source, f"it took more than {self._config.command_timeout} s")

    def _decoded(self, name: str, source: Source, data: bytes) -> str:
        if len(data) > self._config.limit:
            raise _unavailable(name, source, f"the value has more than {self._config.limit} bytes")
        text = data.removesuffix(b"\n").removesuffix(b"\r")
        return text.decode("utf-8", "surrogateescape")


def _unavailable(name: str, source: Source, reason: str) -> SecretUnavailable:
    return SecretUnavailable(
        f"the secret {name!r} has no value: {source.kind}: {reason}",
        secret=name,
        source=source.kind,
        reason=reason,
    )


@plugin(optional=[SubprocessRuntime], provides=[Secrets], config=SourcesConfig)
async def sources(ctx: Context, config: SourcesConfig) -> AsyncIterator[None]:
    """Provide `secrets` from the configured sources."""
    ctx.provide(Secrets, ConfiguredSecrets(config, ctx.get(SubprocessRuntime)))
    yield
