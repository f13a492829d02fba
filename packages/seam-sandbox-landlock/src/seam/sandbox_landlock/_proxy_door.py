"""Where a confined command finds its proxy: a listener outside, or one that the launcher hands over from inside."""

from __future__ import annotations

import logging
import socket

import anyio
from anyio.abc import SocketStream

from seam.sandbox_landlock._proxy import ProxySession

_log = logging.getLogger("seam.sandbox.network")
_LATER = 0.1
"""Seconds until an accept that failed is tried again."""


async def serve(listener: socket.socket, session: ProxySession) -> None:
    """Accept connections on a listening socket until the session is stopped; closes the socket."""
    listener.setblocking(False)
    with listener, session.serving:
        async with anyio.create_task_group() as own:
            while True:
                await session.places.acquire()
                own.start_soon(_serve_one, await _accept(listener), session)


async def _accept(listener: socket.socket) -> socket.socket:
    while True:
        await anyio.wait_readable(listener)
        try:
            accepted, _ = listener.accept()
        except BlockingIOError:
            continue  # the client gave up meanwhile
        except OSError:
            _log.warning("a connection of a confined command cannot be accepted now", exc_info=True)
            await anyio.sleep(_LATER)  # no descriptors are left: the next may find some
            continue
        return accepted


async def _serve_one(accepted: socket.socket, session: ProxySession) -> None:
    try:
        await session.handle(await SocketStream.from_socket(accepted))
    except Exception:
        # one connection of one command; it is closed, and nobody else's is
        _log.exception("a connection of a confined command broke")
    finally:
        session.places.release()


async def take_listener(door: socket.socket) -> socket.socket | None:
    """Wait on a socket file for the launcher, which hands over a listening socket of its own network; `None` when it
    died before it did."""
    door.setblocking(False)
    await anyio.wait_readable(door)
    connection, _ = door.accept()
    with connection:
        await anyio.wait_readable(connection)
        _, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
    return socket.socket(fileno=descriptors[0]) if descriptors else None


async def serve_from_inside(door: socket.socket, session: ProxySession) -> None:
    """Take over the listener that the launcher makes inside, and serve it; closes both sockets."""
    taken: socket.socket | None = None
    with door, session.waiting:
        taken = await take_listener(door)
    if taken is not None:
        await serve(taken, session)


def proxy_variables(port: int) -> dict[str, str]:
    """The variables by which programs find the proxy."""
    address = f"http://127.0.0.1:{port}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
    local = "localhost,127.0.0.1,::1"
    return {**dict.fromkeys(names, address), "NO_PROXY": local, "no_proxy": local}
