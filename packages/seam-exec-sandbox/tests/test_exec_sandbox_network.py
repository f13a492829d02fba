"""The network allow-list: one way out, names resolved once and checked after that."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from seam.exec_def import ExecRequest, ShellExecutor
from seam.sandbox_bwrap import bwrap
from seam.sandbox_landlock import landlock

Opener = Callable[..., AbstractAsyncContextManager[ShellExecutor]]

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not os.access("/usr/bin/bwrap", os.X_OK), reason="no bubblewrap on this machine"),
]

ASK = """
import os, socket, sys
proxy = os.environ['HTTPS_PROXY'].rpartition(':')[2]
s = socket.create_connection(('127.0.0.1', int(proxy)), 5)
s.sendall(sys.argv[1].encode().decode('unicode_escape').encode())
head = s.recv(4096)
print(head.split(b'\\r\\n')[0].decode())
if b' 200 ' in head:
    s.sendall(b'ping'); print(s.recv(100).decode())
"""


@pytest.fixture
def server() -> Iterator[int]:
    """A server that answers each connection once. Gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        stop = threading.Event()

        def serve() -> None:
            while not stop.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(5)
                    connection.sendall(b"pong " + connection.recv(100))

        thread = threading.Thread(target=serve)
        thread.start()
        yield int(listener.getsockname()[1])
        stop.set()
        thread.join()


@pytest.mark.parametrize("runtime", [bwrap, landlock], ids=["bwrap", "landlock"])
async def test_only_what_is_listed_is_reached_and_refusals_are_facts(
    open_executor: Opener, arena: Path, server: int, runtime: object
) -> None:
    (arena / "ws/ask.py").write_text(ASK)
    allow = [
        {"host": "localhost", "ports": [server], "private": True},
        {"host": "127.0.0.1", "ports": [server]},
    ]
    config = {"partial": True, "network": "allow-list", "allow": allow}
    asks = [
        f"CONNECT localhost:{server} HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n",
        f"CONNECT 127.0.0.1:{server} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n",
        "CONNECT example.org:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n",
        "GET http://localhost/ HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n",
    ]
    command = "; ".join(f"python3 ask.py '{ask}'" for ask in asks)
    direct = f"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {server}), 2)' 2>/dev/null || echo closed"
    async with open_executor({}, config, runtime) as executor:
        spec = executor.resolve(ExecRequest(command=f"{command}; {direct}", workspace=str(arena / "ws")))
        result = await executor.run(spec)
    lines = result.stdout.data.decode().splitlines()
    assert lines == [
        "HTTP/1.1 200 Connection established",
        "pong ping",
        "HTTP/1.1 403 Refused",
        "HTTP/1.1 403 Refused",
        "HTTP/1.1 403 Refused",
        "closed",
    ], (lines, result.stderr)
    refused = {denial.target: denial for denial in result.sandbox.denials}
    assert set(refused) == {f"127.0.0.1:{server}", "example.org:443", "localhost:80"}
    assert "private address" in refused[f"127.0.0.1:{server}"].rule
    assert {denial.certainty for denial in refused.values()} == {"confirmed"}
