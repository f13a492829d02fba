"""Levels of containment: who starts commands and owns their trees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from seam.subprocess_def import Containment
from seam.subprocess_local._failures import Command


@dataclass(slots=True)
class Order:
    """One start, in descriptors of this process.

    Attributes:
        command: what to run; `executable` is decided.
        control: the supervisor's end of the control socket.
        stdio: what becomes descriptors 0, 1 and 2.
        pairs: further descriptors, `(here, in the child)`.
        terminal: descriptor 0 is a terminal that becomes the controlling one.
        log: for a process that outlives this one: the file that receives the supervisor's events; else -1.
        grace_ms: what the supervisor of such a process does on SIGTERM.
        end_survivors: what it does with survivors when this process is not there to decide.
        cgroup: path of a cgroup to make for it, or empty.
    """

    command: Command
    control: int
    stdio: tuple[int, int, int]
    pairs: Sequence[tuple[int, int]]
    terminal: bool
    log: int
    grace_ms: int
    end_survivors: bool
    cgroup: str


class Level(ABC):
    """A way to start commands and hold their trees: each command gets a supervisor, which talks over its control
    socket."""

    @abstractmethod
    async def start(self, order: Order) -> None:
        """Hand the order over; the supervisor tells over the control socket how it went.

        Raises:
            OSError: the order could not be handed over.
            ValueError: some text is not fit for a system call.
        """

    @abstractmethod
    def containment(self, *, cgroup: bool, detached: bool) -> Containment:
        """What this level promises for a start."""

    @abstractmethod
    async def close(self) -> None:
        """End what the level itself runs, and wait for it."""
