"""Many clients over streamable HTTP, each with a token of its own."""

from __future__ import annotations

import hmac
import os
import socket
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from seam.tools_def import Access, TurnGate
from seam.tools_mcp._config import McpConfig, Token
from seam.tools_mcp._door import Door, Request
from seam.tools_mcp._errors import TokenMissing
from seam.tools_mcp._sessions import Conversation, Conversations

LOOPBACK = ("127.0.0.1:*", "localhost:*", "[::1]:*")


class TokenGate:
    """ASGI middleware: nobody comes in without a token that the deployment names. Compared in constant time."""

    def __init__(self, app: ASGIApp, tokens: dict[bytes, Token]) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        found = self._find(HttpRequest(scope).headers.get("authorization", ""))
        if found is None:
            answer = JSONResponse(
                {
                    "error": "unauthorized",
                    "message": "send `Authorization: Bearer <token>` with a token of this deployment",
                },
                status_code=401,
                headers={"WWW-Authenticate": "Bearer"},
            )
            await answer(scope, receive, send)
            return
        scope.setdefault("state", {})["seam_token"] = found
        await self._app(scope, receive, send)

    def _find(self, header: str) -> Token | None:
        scheme, _, given = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        matches = [
            token
            for value, token in self._tokens.items()
            if hmac.compare_digest(value, given.strip().encode())
        ]
        return matches[0] if matches else None


def tokens(config: McpConfig, environment: Mapping[str, str] = os.environ) -> dict[bytes, Token]:
    """The tokens by value.

    Raises:
        TokenMissing: an environment variable is not set or empty.
    """
    found: dict[bytes, Token] = {}
    for token in config.tokens:
        value = (
            token.token.get_secret_value()
            if token.token is not None
            else environment.get(token.env or "", "")
        )
        if not value:
            raise TokenMissing(
                f"the token of {token.principal!r} is to be found in the environment variable {token.env}, which is not set",
                principal=token.principal,
                variable=token.env,
            )
        found[value.encode()] = token
    return found


class HttpSessions:
    """Which session a request belongs to: its MCP session where the protocol has one, else one for each principal."""

    def __init__(
        self, gate: TurnGate, config: McpConfig, end: Callable[[Conversation], Awaitable[None]]
    ) -> None:
        self._gate = gate
        self._config = config
        self._end = end
        self.known = Conversations()

    def identify(self, ctx: Request) -> Conversation:
        """The session of a request, made where it is new."""
        request = ctx.request
        assert isinstance(request, HttpRequest)  # the streamable HTTP transport attaches it to every message
        token: Token = request.scope["state"]["seam_token"]
        header = request.headers.get("mcp-session-id")
        # the principal is part of the key: a session id alone opens nobody else's session
        key = f"{token.principal}\n{header or ''}"
        access = Access(principal=token.principal, platform="mcp")
        conversation, new = self.known.find(key, token.agent or self._config.agent, access)
        if new and header is not None:
            # the SDK has no public way to be told that a connection closed; its connection carries the stack for it
            connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage]
            connection.exit_stack.push_async_callback(self._closed, key)
        return conversation

    async def _closed(self, key: str) -> None:
        conversation = self.known.drop(key)
        if conversation is not None:
            await self._end(conversation)

    async def end_all(self) -> None:
        """End every session."""
        for key in self.known.connections():
            await self._closed(key)


async def serve_http(gate: TurnGate, config: McpConfig, ready: Callable[[str, int], None]) -> str:
    """Serve until cancelled; `ready` is told address and port once it listens.

    Raises:
        TokenMissing: a token's variable is not set.
        OSError: the address cannot be listened on.
    """
    allowed = tokens(config)
    listener = socket.create_server((config.host, config.port), family=_family(config.host), reuse_port=False)

    async def end(conversation: Conversation) -> None:
        await gate.end_session(conversation.agent, conversation.id)

    sessions = HttpSessions(gate, config, end)
    try:
        async with anyio.create_task_group() as tasks:
            door = Door(gate, config, tasks, sessions.identify)
            unsubscribe = gate.subscribe(lambda tools: door.published(tools, sessions.known.all))
            await door.refresh(
                Conversation("", config.agent, Access(principal=config.principal, platform="mcp"))
            )
            server = _Server(
                uvicorn.Config(
                    _app(door, config, allowed),
                    log_level="error",
                    lifespan="on",
                    timeout_graceful_shutdown=1,
                    timeout_keep_alive=75,
                )
            )
            try:
                ready(*listener.getsockname()[:2])
                await _serve(server, listener)
            finally:
                unsubscribe()
                door.close()
                tasks.cancel_scope.cancel()
    finally:
        listener.close()
        with anyio.CancelScope(shield=True):
            await sessions.end_all()
    return "the listener was closed"


async def _serve(server: uvicorn.Server, listener: socket.socket) -> None:
    """Serve until cancelled, then let the server end by itself: cancelled in the middle, it would leave connections open."""
    ended = anyio.Event()

    async def run() -> None:
        with anyio.CancelScope(shield=True):
            await server.serve(sockets=[listener])
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        try:
            await ended.wait()
        finally:
            server.should_exit = True


class _Server(uvicorn.Server):
    """Leaves the process's signal handlers to the process."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Catch nothing."""
        yield


def _app(door: Door, config: McpConfig, allowed: dict[bytes, Token]) -> ASGIApp:
    app = door.server.streamable_http_app(
        streamable_http_path=config.path,
        host=config.host,
        max_request_body_size=config.max_message_bytes,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[*LOOPBACK, *config.allowed_hosts],
            allowed_origins=[f"http://{name}" for name in (*LOOPBACK, *config.allowed_hosts)]
            + [f"https://{name}" for name in config.allowed_hosts],
        ),
    )
    return TokenGate(app, allowed)


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
