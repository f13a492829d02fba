"""Failures that the kernel contained: recorded, handed to a sink, never lost."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import anyio

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


class FaultBook:
    """Keeps the latest faults, `kept` of them, and tells the sink of each."""

    def __init__(self, kept: int, sink: FaultSink) -> None:
        self.kept = kept
        self.latest: deque[Fault] = deque(maxlen=kept)
        self._sink = sink

    def record(self, fault: Fault) -> None:
        """One more; a sink that raises is logged, for it is called in the middle of a transition that must go on."""
        self.latest.append(fault)
        try:
            self._sink(fault)
        except Exception:
            logging.getLogger("seam.kernel").exception("the sink of faults failed on: %s", fault)


def contained(error: BaseException) -> bool:
    """Whether the kernel may keep this error to itself.

    Cancellation belongs to the event loop, an interrupt to the person, a generator's exit to the interpreter.
    Everything else that a plugin raises, SystemExit included, is the plugin's own failure.
    """
    if isinstance(error, (anyio.get_cancelled_exc_class(), KeyboardInterrupt, GeneratorExit)):
        return False
    return not _holds_interrupt(error)


def _holds_interrupt(error: BaseException) -> bool:
    if not isinstance(error, BaseExceptionGroup):
        return False
    inner = cast("BaseExceptionGroup[BaseException]", error).exceptions
    return any(isinstance(each, KeyboardInterrupt) or _holds_interrupt(each) for each in inner)
