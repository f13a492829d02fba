"""An implementer under test: what the kit needs to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from seam.subprocess_def._runtime import SubprocessRuntime
from seam.subprocess_def.conformance._card import Card


class Capabilities(BaseModel):
    """What an implementer may honestly lack. A check that needs a flag which is False is noted as lacking."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    whole_tree: bool = Field(default=True, description="No descendant can leave.")
    host_death: bool = Field(default=True, description="The tree dies with a host that is killed.")
    exact_environment: bool = Field(default=True, description="Nothing is added to the environment.")
    exact_memory: bool = Field(default=True, description="Peak memory is the command's own.")
    host_view: bool = Field(
        default=True,
        description="Processes and files of the world can be seen directly by the kit (/proc, paths).",
    )
    terminal: bool = Field(default=True, description="spawn_terminal.")
    detached: bool = Field(default=True, description="Detached lifetimes and attach.")
    killable_supervisor: bool = Field(
        default=True, description="A command that kills its own parent process frees nobody of its tree."
    )


@dataclass
class Subject:
    """One implementer.

    Attributes:
        name: for the card.
        open: a fresh runtime, for the duration of a block.
        opener: `module:function` by which a fresh Python process does the same, for checks that kill the
        host. capabilities: what it has. overrides: checks that it deliberately answers otherwise, each with
        the reason; they are left out, and noted. card: what was found; written by the checks.
    """

    name: str
    open: Callable[[], AbstractAsyncContextManager[SubprocessRuntime]]
    opener: str | None = None
    capabilities: Capabilities = field(default_factory=Capabilities)
    overrides: Mapping[str, str] = field(default_factory=dict[str, str])
    card: Card = field(init=False)

    def __post_init__(self) -> None:
        self.card = Card(implementer=self.name, capabilities=self.capabilities.model_dump())
