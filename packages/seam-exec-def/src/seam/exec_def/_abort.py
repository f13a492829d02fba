"""A caller's explicit wish to end a command. The end is an outcome, not an exception."""

from __future__ import annotations

from collections.abc import Callable

import anyio


class Abort:
    """A signal that is given once and stays given.

    It is used from the event loop's thread. Cancelling the task that awaits a command is something else: that
    ends the command too, but raises instead of returning a result.
    """

    __slots__ = ("_event", "_listeners", "_reason")

    def __init__(self) -> None:
        self._reason: str | None = None
        self._listeners: dict[object, Callable[[], None]] = {}
        self._event: anyio.Event | None = None

    @property
    def is_set(self) -> bool:
        """Whether the abort was asked for."""
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        """Why it was asked for; `None` as long as it was not."""
        return self._reason

    def set(self, reason: str = "aborted by the caller") -> None:
        """Ask for the end. The first reason stays; further calls change nothing."""
        if self._reason is not None:
            return
        self._reason = reason
        listeners, self._listeners = list(self._listeners.values()), {}
        if self._event is not None:
            self._event.set()
        for listener in listeners:
            listener()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` once when the abort is asked for (at once if it already was); returns how to stop
        listening.

        Listeners must not raise and must not block: they run inside `set`.
        """
        if self._reason is not None:
            listener()
            return _nothing
        token = object()
        self._listeners[token] = listener

        def unsubscribe() -> None:
            self._listeners.pop(token, None)

        return unsubscribe

    async def wait(self) -> None:
        """Return when the abort has been asked for."""
        if self._reason is None:
            if self._event is None:
                self._event = anyio.Event()
            await self._event.wait()


def _nothing() -> None:
    """Unsubscribe from an abort that has already told everybody."""
