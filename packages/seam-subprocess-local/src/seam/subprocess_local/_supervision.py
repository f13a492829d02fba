"""The host's side of the control socket: what is known of a tree, and what can be asked."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from seam.subprocess_local._latch import Latch
from seam.subprocess_local._poller import Poller
from seam.subprocess_local._wire import (
    EXITED,
    FACT_ESCALATED,
    FACT_LEFT,
    FACT_UNKNOWN,
    FAILED,
    GONE,
    REQUEST,
    STARTED,
    Event,
    EventReader,
    Request,
)


@dataclass(slots=True)
class LeaderEnd:
    """The leader's exit: a wait status, or why there is none."""

    status: int | None
    unknown: str | None
    at: float


class Supervision:
    """Listens to one supervisor; `on_change` is called after everything it tells."""

    __slots__ = (
        "_control",
        "_listing",
        "_on_change",
        "_poller",
        "_reader",
        "answered",
        "escalated",
        "failed",
        "gone",
        "leader",
        "lost",
        "pid",
        "supervisor_pid",
        "usage",
    )

    def __init__(self, control: socket.socket, poller: Poller, on_change: Callable[[], None]) -> None:
        self._control = control
        self._poller = poller
        self._reader = EventReader()
        self._on_change = on_change
        self._listing: list[tuple[Latch, list[tuple[int, str]]]] = []
        self.supervisor_pid = 0
        self.pid = 0
        self.answered = Latch()
        self.failed: tuple[int, int] | None = None
        self.leader: LeaderEnd | None = None
        self.gone = Latch()
        self.lost = False
        self.escalated = False
        self.usage: Event | None = None
        poller.add(control.fileno(), self._ready, late=True)

    def _ready(self, over: bool) -> None:
        del over
        try:
            data = self._control.recv(4096)
        except ConnectionResetError:
            data = b""  # it ended with a request of ours unread
        if data:
            for event in self._reader.feed(data):
                self._take(event)
        else:
            self._over()
        self._on_change()

    def _take(self, event: Event) -> None:
        kind, facts = event.kind, event.facts
        if kind == STARTED:
            self.pid, self.supervisor_pid = event.pid, event.status
            self.answered.set()
        elif kind == EXITED:
            known = not facts & FACT_UNKNOWN
            why = None if known else "the status was collected by somebody else"
            self.leader = LeaderEnd(event.status if known else None, why, time.monotonic())
            self._took(event, gone=not facts & FACT_LEFT)
        elif kind == GONE:
            self._took(event, gone=True)
        elif kind == FAILED:
            self.failed = (event.pid, event.status)
            self.answered.set()
            self.gone.set()
        elif self._listing:
            latch, found = self._listing.pop(0)
            found += event.listed
            latch.set()

    def _took(self, event: Event, *, gone: bool) -> None:
        self.usage = event
        self.escalated = bool(event.facts & FACT_ESCALATED)
        if gone:
            self.gone.set()

    def _over(self) -> None:
        """The supervisor's end was closed: it is ending, or was killed."""
        self._close_control()
        if not self.gone.is_set:
            self.lost = True
            self.gone.set()  # the server kills what is left
            if self.leader is None:
                why = "the supervisor of the process was killed from outside"
                self.leader = LeaderEnd(None, why, time.monotonic())
        self.answered.set()
        for latch, _ in self._listing:
            latch.set()
        self._listing.clear()

    def _close_control(self) -> None:
        if self._control.fileno() >= 0:
            self._poller.remove(self._control.fileno())
            self._control.close()

    def request(self, kind: Request, value: int) -> None:
        """Ask the supervisor; what is asked of one that has gone is moot."""
        if self._control.fileno() < 0:
            return
        try:
            self._control.send(REQUEST.pack(kind, value), socket.MSG_NOSIGNAL)
        except (BrokenPipeError, ConnectionResetError):
            return  # it is ending; its last words are still to be read

    async def survivors(self) -> list[tuple[int, str]]:
        """Who is alive in the tree, as `(pid, name)`; the leader included while it runs."""
        found: list[tuple[int, str]] = []
        if self._control.fileno() < 0:
            return found
        latch = Latch()
        self._listing.append((latch, found))
        self.request(Request.LIST, 0)
        await latch.wait()
        return found

    def close(self) -> None:
        """Stop listening. A tree that is not detached is killed by its supervisor, should anything be left of it."""
        self._close_control()
