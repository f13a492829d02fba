"""Failures that the kernel contained: recorded, handed to a sink, never lost."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Phase: TypeAlias = Literal["set-up", "running", "task", "listener", "effect", "tear-down"]
"""Where a plugin failed; `running` means that a scope or task group it opened in set-up broke while it was active."""


@dataclass(frozen=True)
class Fault:
    """One failure of one plugin instance.

    Attributes:
        instance: name of the instance.
        plugin: name of its plugin.
        phase: what it was doing.
        what: the thing that failed: the name of the effect, task or event, or an empty text.
        error: the exception, with its cause.
    """

    instance: str
    plugin: str
    phase: Phase
    what: str
    error: BaseException

    def __str__(self) -> str:
        what = f" of {self.what}" if self.what else ""
        return f"{self.instance}: {self.phase}{what} failed: {type(self.error).__name__}: {self.error}"


FaultSink: TypeAlias = Callable[[Fault], None]
"""Receives each fault at the moment it happens; it must not raise and must not block."""


def log_fault(fault: Fault) -> None:
    """The default sink: one record with traceback in the logger `seam.kernel`."""
    logging.getLogger("seam.kernel").error("%s", fault, exc_info=fault.error)
