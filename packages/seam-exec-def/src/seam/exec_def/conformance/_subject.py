"""What a kit is given: the implementer to be examined, and what it honestly lacks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from seam.exec_def import ShellExecutor, StreamMode, SurvivorPolicy
from seam.exec_def.conformance._card import Card


@dataclass(frozen=True)
class Capabilities:
    """What an implementer may honestly lack; a check that needs it is then left out and the card says so.

    Attributes:
        whole_tree: no process of a command can get away, not by `setsid`, not by a double fork.
        host_view: the kit sees the world's processes and files as its own (same machine, same paths).
        host_limits: starts fail with an error when the kit's own process has no descriptors left.
        keeps_survivors: `survivors="keep"` can be had.
        secrets: `Settings.secrets` can be had.
        outlives_shell: what a shell leaves lives on while its output is drained; without it, it ends with the shell.
    """

    whole_tree: bool = True
    host_view: bool = True
    host_limits: bool = True
    keeps_survivors: bool = True
    secrets: bool = True
    outlives_shell: bool = True


@dataclass(frozen=True)
class Settings:
    """How an executor is to be configured for a check.

    Attributes:
        grace: seconds between SIGTERM and SIGKILL.
        drain: seconds of reading after the shell's end.
        max_timeout: seconds.
        survivors: what happens to what is left.
        streams: where a request does not choose.
        secrets: values by name that the executor's `secrets` service knows.
    """

    grace: float = 0.5
    drain: float = 0.3
    max_timeout: float = 600.0
    survivors: SurvivorPolicy = "end"
    streams: StreamMode = "separate"
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])


class Subject(ABC):
    """An implementer to be examined; a test module provides it as the fixture `exec_subject`.

    Args:
        name: names it in the card.
        capabilities: what it has.
    """

    def __init__(self, name: str, capabilities: Capabilities | None = None) -> None:
        self.name = name
        self.capabilities = capabilities or Capabilities()
        self.card = Card(subject=name)

    @abstractmethod
    def open(self, settings: Settings) -> AbstractAsyncContextManager[ShellExecutor]:
        """Make an executor for a block. The environment of the world is read when the block begins. Its dialect is `bash`."""
