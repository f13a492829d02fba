"""What a client of the proxy asks for, and how it is answered.

Sources: RFC 9110, section 9.3.6 (CONNECT); RFC 9112, sections 3.2 (forms of a target) and 9.6 (closing).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

import h11
from anyio.abc import SocketStream

_CHUNK = 1 << 16
_AUTHORITY = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9_.-]{1,253})):(?P<port>[0-9]{1,5})"
)
_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"te", b"upgrade"}
)
"""Headers between a client and its proxy; they are not passed on."""


@dataclass(frozen=True)
class Asked:
    """One request.

    Attributes:
        host: a name in lower case, or an address in its usual form.
        port: 1 to 65535.
        tunnel: whether it is CONNECT, which is answered before anything flows.
        early: what the other side gets first: bytes that came behind a CONNECT, or a plain request as it is passed on.
    """

    host: str
    port: int
    tunnel: bool
    early: bytes = b""


class Refused(Exception):
    """A request that comes to nothing.

    Args:
        code: status of the answer.
        reason: what to tell the client.
    """

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


async def read_request(client: SocketStream) -> Asked:
    """Read the head of a request.

    Raises:
        Refused: it is none, or none for a proxy.
        anyio.EndOfStream, anyio.BrokenResourceError: the client is gone.
    """
    parser = h11.Connection(h11.SERVER)
    try:
        while True:
            event = parser.next_event()
            if event is h11.NEED_DATA:
                parser.receive_data(await client.receive(_CHUNK))
            elif isinstance(event, h11.Request):
                return _understood(event, parser.trailing_data[0])
            else:
                raise Refused(400, "no request")
    except h11.RemoteProtocolError as error:
        raise Refused(error.error_status_hint, str(error)) from error


def _understood(request: h11.Request, behind: bytes) -> Asked:
    target = request.target.decode("ascii", "replace")
    tunnel = request.method == b"CONNECT"
    found = _AUTHORITY.fullmatch(target if tunnel else _authority_of_url(target))
    if found is None or not 0 < int(found["port"]) < 65536:
        raise Refused(400, "this is a proxy: it serves CONNECT host:port and http://host/ requests")
    try:
        host = str(ipaddress.ip_address(found["six"] or found["name"]))
    except ValueError:
        host = (found["name"] or "").lower()
    if not host:
        raise Refused(400, "no address")
    return Asked(host, int(found["port"]), tunnel, behind if tunnel else _passed_on(request, target) + behind)


def _authority_of_url(target: str) -> str:
    """`host:port` of `http://host/path`, or what cannot be one."""
    try:
        url = urlsplit(target)
        port = url.port or 80
    except ValueError:
        return ""
    if url.scheme != "http" or not url.hostname:
        return ""
    return f"[{url.hostname}]:{port}" if ":" in url.hostname else f"{url.hostname}:{port}"


def _passed_on(request: h11.Request, target: str) -> bytes:
    """A plain request as the server gets it. It closes the connection, so that the next one is decided anew."""
    url = urlsplit(target)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    lines = [b"%b %b HTTP/1.1" % (request.method, path.encode("ascii", "replace"))]
    lines += [
        b"%b: %b" % (name, value) for name, value in request.headers.raw_items() if name.lower() not in _HOP
    ]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


async def answer(client: SocketStream, code: int, reason: str) -> None:
    """Refuse a request and say why."""
    body = f"seam sandbox: {reason}\n".encode()
    head = (
        f"HTTP/1.1 {code} Refused\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    await client.send(head.encode() + body)
