"""What to run, all decided: the only thing that `SubprocessRuntime` executes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, PositiveInt

from seam.kernel import Value
from seam.subprocess_def._streams import DescriptorSpec, StderrSpec, StdinSpec, StdoutSpec

SurvivorPolicy = Literal["end", "keep"]
"""What happens to descendants that are alive when the leader has exited and the drain is over: ended at
once, or kept until the process is disposed."""


class OwnedLifetime(Value):
    """The process ends at the latest with its handle, its runtime or the host, whichever ends first."""

    kind: Literal["owner"] = "owner"


class DetachedLifetime(Value):
    """The process outlives handle, runtime and host, and is found again with
    `SubprocessRuntime.attach(record)`.

    Its standard streams can only be `Null` or `File`, since nobody may be there to read or write a pipe;
    stdin may be `Data` as well."""

    kind: Literal["detached"] = "detached"
    record: str = Field(description="Absolute path of the record file, created by spawn; it must not exist.")


Lifetime = Annotated[OwnedLifetime | DetachedLifetime, Field(discriminator="kind")]


class ProcessSpec(Value):
    """What `SpawnSpec` and `TerminalSpec` have in common."""

    argv: tuple[str, ...] = Field(
        min_length=1,
        description=(
            "Program and arguments, never a shell string. A name without a slash is looked up in PATH of "
            "`env`."
        ),
    )
    executable: str | None = Field(
        default=None, description="Path to run where it differs from argv[0]; None: argv[0] says it."
    )
    cwd: str = Field(description="Working directory, an absolute path of the world.")
    env: Mapping[str, str] = Field(description="The whole environment; nothing is added to it.")
    descriptors: Mapping[int, DescriptorSpec] = Field(
        default_factory=dict[int, DescriptorSpec],
        description="Further descriptors by their number in the child, 3 or more. Nothing else is inherited.",
    )
    grace: NonNegativeFloat = Field(allow_inf_nan=False, description="Seconds between SIGTERM and SIGKILL.")
    survivors: SurvivorPolicy


class SpawnSpec(ProcessSpec):
    """A program with pipes or files as its streams, in a session of its own without a controlling
    terminal."""

    stdin: StdinSpec
    stdout: StdoutSpec
    stderr: StderrSpec
    drain: NonNegativeFloat = Field(
        allow_inf_nan=False,
        description="Seconds to wait, after the leader's exit, for the end of streams that descendants hold.",
    )
    lifetime: Lifetime


class TerminalSpec(ProcessSpec):
    """A program whose three standard streams are one pseudo-terminal, the controlling one of its session."""

    columns: PositiveInt
    rows: PositiveInt
