"""The proxy of the allow-list by itself: what it reads, what it decides, what it bounds."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from seam.sandbox_def import AllowedHost, NetworkDecision
from seam.sandbox_landlock._addresses import is_public
from seam.sandbox_landlock._pace import Pace
from seam.sandbox_landlock._proxy import CONNECTIONS, ProxySession
from seam.sandbox_landlock._proxy_door import serve

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def proxy(*allowed: AllowedHost) -> AsyncGenerator[tuple[int, list[NetworkDecision], ProxySession]]:
    decisions: list[NetworkDecision] = []

    async def record(decision: NetworkDecision) -> None:
        decisions.append(decision)

    session = ProxySession(allowed, 2.0, "start", record)
    listener = socket.create_server(("127.0.0.1", 0))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, listener, session)
        yield int(listener.getsockname()[1]), decisions, session
        session.stop()


async def ask(port: int, request: bytes) -> bytes:
    """What the proxy says to a client that sends all at once and then listens."""
    async with await anyio.connect_tcp("127.0.0.1", port) as client:
        await client.send(request)
        said = b""
        with anyio.fail_after(10):
            try:
                while chunk := await client.receive():
                    said += chunk
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return said
        return said


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"hello\r\n\r\n", b"400"),
        (b"CONNECT x HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
        (b"CONNECT x:0 HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
        (b"CONNECT x:99999 HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
        (b"GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
        (b"CONNECT x:443 HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 100_000 + b"\r\n\r\n", b"431"),
    ],
)
async def test_what_is_no_request_is_refused_and_connects_nothing(request_: bytes, status: bytes) -> None:
    async with proxy(AllowedHost(host="x", private=True)) as (port, decisions, _):
        said = await ask(port, request_)
        assert said.startswith(b"HTTP/1.1 " + status) or (status == b"431" and said == b""), said
        assert decisions == []


async def test_a_name_that_cannot_be_one_is_refused_and_the_proxy_lives_on() -> None:
    wild = AllowedHost(host="*.example.invalid", private=True)
    async with proxy(wild) as (port, decisions, session):
        for name in (b"a" * 70 + b".example.invalid", b"a..example.invalid", b"nowhere.example.invalid"):
            assert b" 403 " in await ask(port, b"CONNECT %b:443 HTTP/1.1\r\nHost: x\r\n\r\n" % name)
        assert [one.permitted for one in decisions] == [False, False, False]
        assert {one.rule for one in decisions} == {"network allow-list: the name cannot be resolved"}
        assert {one.confined for one in decisions} == {"start"}
        assert len(session.denials) == 3


async def test_bytes_behind_the_request_are_not_lost() -> None:
    async def echo(client: anyio.abc.SocketStream) -> None:
        async with client:
            await client.send(b"<" + await client.receive() + b">")

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as server,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(server.serve, echo)
        target: int = server.extra(anyio.abc.SocketAttribute.local_port)
        entry = AllowedHost(host="127.0.0.1", ports=(target,), private=True)
        async with proxy(entry) as (port, decisions, _):
            said = await ask(port, b"CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: x\r\n\r\nearly" % target)
            assert said.endswith(b"\r\n\r\n<early>"), said
            plain = await ask(
                port,
                b"POST http://127.0.0.1:%d/a?b HTTP/1.1\r\nHost: x\r\nProxy-Authorization: secret\r\n"
                b"Content-Length: 4\r\n\r\nbody" % target,
            )
            assert (
                plain
                == b"<POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody>"
            )
            assert [one.permitted for one in decisions] == [True, True]
        tasks.cancel_scope.cancel()


async def test_a_command_cannot_use_up_the_descriptors_of_the_host() -> None:
    async with proxy(AllowedHost(host="x")) as (port, _, session):
        clients = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(CONNECTIONS + 20)]
        with anyio.fail_after(10):
            while session.places.value:
                await anyio.sleep(0.01)
        for client in clients:
            await client.aclose()
        with anyio.fail_after(10):
            # one place is taken by the accept that waits for the next client
            while session.places.value < CONNECTIONS - 1:
                await anyio.sleep(0.01)


async def test_a_pace_lets_a_burst_pass_and_then_so_many_a_second() -> None:
    pace = Pace(3, 1.0)
    for _ in range(3):
        with anyio.move_on_after(0) as waiting:
            await pace.take()
        assert not waiting.cancelled_caught
    with anyio.move_on_after(0) as waiting:
        await pace.take()
    assert waiting.cancelled_caught


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("10.0.0.1", False),
        ("127.0.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:93.184.215.14", True),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b::5db8:d70e", True),
        ("2002:a00:1::", False),
        ("2001:0:1::", False),
        ("::10.0.0.1", False),
    ],
)
def test_addresses_that_lead_inside_are_not_public(address: str, public: bool) -> None:
    assert is_public(address) is public
