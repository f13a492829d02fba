"""Errors of the door."""

from __future__ import annotations

from seam.kernel import SeamError


class DoorError(SeamError):
    """Root of the errors of seam-tools-mcp."""

    code = "DOOR_ERROR"
    retryable = "no"


class TokenMissing(DoorError):
    """A client's token is not to be had. Facts: `principal`, `variable`."""

    code = "TOKEN_MISSING"


class EventLoopUnsupported(DoorError):
    """The HTTP transport stands on a server that runs on asyncio only. Facts: `loop`."""

    code = "EVENT_LOOP_UNSUPPORTED"
