"""The way out for `network = "allow-list"`: an HTTP proxy that resolves a name once, checks what came of it, has its
decision recorded, and connects to exactly that.

Our own, since the proxies on offer bring an event loop, threads or a process of their own; the parsing is h11's.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import SocketStream

from seam.sandbox_def import AllowedHost, Denial, NetworkDecision
from seam.sandbox_landlock._addresses import is_public
from seam.sandbox_landlock._pace import Pace
from seam.sandbox_landlock._proxy_request import Asked, Refused, answer, read_request

_log = logging.getLogger("seam.sandbox.network")

Recorder = Callable[[NetworkDecision], Awaitable[None]]
"""Keeps a decision before it takes effect; raises when it could not, and then nothing is connected."""

BURST, RATE = 200, 20.0
"""Decisions of one command at once, and a second after that: no command can flood the record, later ones wait."""

CONNECTIONS = 100
"""Open connections of one command; further ones wait, so that no command can use up the host's descriptors."""


class ProxySession:
    """The connections of one command, and the decisions about them.

    Args:
        allowed: the allow-list.
        connect_timeout: seconds for the resolution of a name, and for a connection to each of its addresses.
        confined: token of the start.
        record: see `Recorder`; without it decisions are logged only.

    Attributes:
        denials: what was refused, each once.
        places: for how many connections there is room.
    """

    def __init__(
        self,
        allowed: tuple[AllowedHost, ...],
        connect_timeout: float,
        confined: str = "",
        record: Recorder | None = None,
    ) -> None:
        self.denials: list[Denial] = []
        self.waiting = anyio.CancelScope()
        self.serving = anyio.CancelScope()
        self.places = anyio.Semaphore(CONNECTIONS)
        self._allowed = allowed
        self._timeout = connect_timeout
        self._confined = confined
        self._record = record
        self._pace = Pace(BURST, RATE)

    def stop(self) -> None:
        """End every connection and listen no more."""
        self.waiting.cancel()
        self.serving.cancel()

    async def handle(self, client: SocketStream) -> None:
        """Serve one connection from inside."""
        async with client:
            try:
                await self._serve(client)
            except Refused as error:
                await _answer_if_there(client, error)
            except (anyio.BrokenResourceError, anyio.EndOfStream):
                return  # one of both is gone

    async def _serve(self, client: SocketStream) -> None:
        asked = await read_request(client)
        await self._pace.take()
        async with await self._reach(asked) as remote:
            if asked.tunnel:
                await client.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
            if asked.early:
                await remote.send(asked.early)
            await _relay(client, remote)

    async def _reach(self, asked: Asked) -> SocketStream:
        """Connect to a permitted host, to the very address that was checked.

        Raises:
            Refused: it may not be reached, or cannot.
        """
        entry = next((entry for entry in self._allowed if entry.matches(asked.host, asked.port)), None)
        if entry is None:
            raise await self._refused(asked, "not on the allow-list")
        for address in await self._addresses(asked, entry):
            rule = f"network allow-list: {entry.host}"
            await self._decided(asked, rule, address)
            with anyio.move_on_after(self._timeout):
                try:
                    return await anyio.connect_tcp(address, asked.port)
                except OSError:
                    continue  # the next address may answer
        raise await self._refused(asked, "permitted, but it does not answer")

    async def _addresses(self, asked: Asked, entry: AllowedHost) -> list[str]:
        """What a name stands for at this moment, as far as it may be connected to; never empty."""
        found: list[str] = []
        with anyio.move_on_after(self._timeout):
            try:
                answers = await anyio.getaddrinfo(asked.host, asked.port, type=socket.SOCK_STREAM)
                found = list(dict.fromkeys(str(address[0]) for *_, address in answers))
            except (OSError, UnicodeError):
                pass  # no such name, or a text that cannot be one
        if not found:
            raise await self._refused(asked, "the name cannot be resolved")
        usable = [address for address in found if entry.private or is_public(address)]
        if not usable:
            raise await self._refused(asked, f"it leads to a private address ({', '.join(found[:5])})")
        return usable

    async def _refused(self, asked: Asked, why: str) -> Refused:
        host = f"[{asked.host}]" if ":" in asked.host else asked.host
        rule = f"network allow-list: {why}"
        denial = Denial(
            operation="connect",
            target=f"{host}:{asked.port}",
            rule=rule,
            certainty="confirmed",
            evidence="proxy",
        )
        if denial not in self.denials:
            self.denials.append(denial)
        await self._decided(asked, rule, None)
        return Refused(403, f"{denial.target}: {why}")

    async def _decided(self, asked: Asked, rule: str, address: str | None) -> None:
        """Have a decision recorded, before it takes effect."""
        decision = NetworkDecision(
            confined=self._confined,
            host=asked.host,
            port=asked.port,
            permitted=address is not None,
            address=address,
            rule=rule,
        )
        _log.info(
            "%s %s:%s: %s", "permitted" if address else "refused", asked.host, asked.port, address or rule
        )
        if self._record is None:
            return
        try:
            await self._record(decision)
        except Exception as error:
            _log.exception("a network decision could not be recorded")
            why = "the decision about it could not be recorded, so nothing is connected"
            raise Refused(403, why) from error


async def _answer_if_there(client: SocketStream, refused: Refused) -> None:
    try:
        await answer(client, refused.code, refused.reason)
    except anyio.BrokenResourceError:
        return  # nobody there to be told


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
