"""The way out for `network = "allow-list"`: an HTTP CONNECT proxy that resolves a name once, checks what came of it,
and connects to exactly that.

Our own, since the proxies on offer bring an event loop, threads or a process of their own; the parsing is h11's.
Source: RFC 9110, section 9.3.6 (CONNECT).
"""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import h11
from anyio.abc import SocketStream

from seam.sandbox_def import AllowedHost, Denial

_log = logging.getLogger("seam.sandbox.network")
_CHUNK = 1 << 16


@dataclass
class ProxySession:
    """The decisions for one command.

    Attributes:
        allowed: the allow-list.
        connect_timeout: seconds for a connection to a permitted host.
        denials: what was refused.
        permitted: `host:port` that were connected to, in order.
    """

    allowed: tuple[AllowedHost, ...]
    connect_timeout: float
    denials: list[Denial] = field(default_factory=list[Denial])
    permitted: list[str] = field(default_factory=list[str])
    waiting: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    serving: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    def stop(self) -> None:
        """End every connection and listen no more."""
        self.waiting.cancel()
        self.serving.cancel()

    async def handle(self, client: SocketStream) -> None:
        """Serve one connection from inside."""
        async with client:
            try:
                target = await _asked(client)
                if target is None:
                    await _answer(client, 405, "only CONNECT is served; plain http is not")
                    return
                remote = await self._reach(*target)
                if remote is None:
                    await _answer(client, 403, "not on the allow-list of this sandbox")
                    return
                async with remote:
                    await client.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    await _relay(client, remote)
            except (anyio.BrokenResourceError, anyio.EndOfStream, h11.RemoteProtocolError):
                return  # the client went away, or does not speak HTTP

    async def _reach(self, host: str, port: int) -> SocketStream | None:
        """Connect to a permitted host, to the very address that was checked; `None` where it is refused."""
        entry = next((entry for entry in self.allowed if entry.matches(host, port)), None)
        if entry is None:
            return self._refuse(host, port, "not on the allow-list")
        try:
            found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError:
            return self._refuse(host, port, "the name cannot be resolved")
        addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
        usable = [address for address in addresses if entry.private or _is_public(address)]
        if not usable:
            return self._refuse(host, port, f"it leads to a private address ({', '.join(addresses)})")
        for address in usable:
            with anyio.move_on_after(self.connect_timeout):
                try:
                    stream = await anyio.connect_tcp(address, port)
                except OSError:
                    continue  # the next address may answer
                self.permitted.append(f"{host}:{port}")
                _log.info("permitted %s:%s at %s", host, port, address)
                return stream
        return self._refuse(host, port, "permitted, but it does not answer")

    def _refuse(self, host: str, port: int, why: str) -> None:
        _log.info("refused %s:%s: %s", host, port, why)
        denial = Denial(
            operation="connect",
            target=f"{host}:{port}",
            rule=f"network allow-list: {why}",
            certainty="confirmed",
            evidence="proxy",
        )
        if denial not in self.denials:
            self.denials.append(denial)


async def serve(listener: socket.socket, session: ProxySession) -> None:
    """Accept connections on a listening socket until the session is stopped; closes the socket."""
    listener.setblocking(False)
    with listener, session.serving:
        async with anyio.create_task_group() as own:
            while True:
                await anyio.wait_readable(listener)
                try:
                    accepted, _ = listener.accept()
                except BlockingIOError:
                    continue  # the client gave up meanwhile
                own.start_soon(session.handle, await SocketStream.from_socket(accepted))


async def take_listener(door: socket.socket) -> socket.socket:
    """Wait on a socket file for the launcher, which hands over a listening socket of its own network."""
    door.setblocking(False)
    await anyio.wait_readable(door)
    connection, _ = door.accept()
    with connection:
        await anyio.wait_readable(connection)
        _, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
    return socket.socket(fileno=descriptors[0])


async def serve_from_inside(door: socket.socket, session: ProxySession) -> None:
    """Take over the listener that the launcher makes inside, and serve it; closes both sockets."""
    taken: list[socket.socket] = []
    with door, session.waiting:
        taken.append(await take_listener(door))
    if taken:
        await serve(taken[0], session)


def proxy_variables(port: int) -> dict[str, str]:
    """The variables by which programs find the proxy."""
    address = f"http://127.0.0.1:{port}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
    local = "localhost,127.0.0.1,::1"
    return {**dict.fromkeys(names, address), "NO_PROXY": local, "no_proxy": local}


def _is_public(address: str) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return (mapped or parsed).is_global and not parsed.is_multicast


async def _asked(client: SocketStream) -> tuple[str, int] | None:
    """Host and port of a CONNECT request, `None` for any other request."""
    parser = h11.Connection(h11.SERVER)
    while True:
        event = parser.next_event()
        if event is h11.NEED_DATA:
            parser.receive_data(await client.receive(_CHUNK))
        elif isinstance(event, h11.Request):
            host, _, port = event.target.decode("ascii", "replace").rpartition(":")
            if event.method != b"CONNECT" or not port.isdecimal():
                return None
            return host.strip("[]"), int(port)
        else:
            return None


async def _answer(client: SocketStream, code: int, reason: str) -> None:
    body = reason.encode() + b"\n"
    head = f"HTTP/1.1 {code} Refused\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    await client.send(head.encode() + body)


async def _relay(first: SocketStream, second: SocketStream) -> None:
    async with anyio.create_task_group() as tasks:

        async def copy(source: SocketStream, target: SocketStream, done: Callable[[], None]) -> None:
            try:
                async for chunk in source:
                    await target.send(chunk)
                await target.send_eof()
            except (anyio.BrokenResourceError, OSError):
                done()  # one side is gone: nothing can arrive any more

        tasks.start_soon(copy, first, second, tasks.cancel_scope.cancel)
        tasks.start_soon(copy, second, first, tasks.cancel_scope.cancel)
