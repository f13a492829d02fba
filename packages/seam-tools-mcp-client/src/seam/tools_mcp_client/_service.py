"""An MCP server as a tool service."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import cast

import anyio
import mcp_types as types
from mcp.client.context import ClientRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import JsonValue

from seam.kernel import SeamError
from seam.subprocess_def import SubprocessRuntime
from seam.tools_def import (
    CallContext,
    CapabilityUnavailable,
    Failed,
    Outcome,
    Question,
    ToolSchema,
    ToolService,
    Unavailable,
)
from seam.tools_mcp_client._config import McpClientConfig
from seam.tools_mcp_client._connection import Link, connect
from seam.tools_mcp_client._mapping import outcome, schema


class McpToolService(ToolService):
    """The tools of one server. Connected in prepare, closed when the last generation that has it is disposed."""

    def __init__(self, name: str, config: McpClientConfig, runtime: SubprocessRuntime | None) -> None:
        self.id = name
        self.description = f"MCP server {config.url or config.command[0]}"
        self.trusted = config.trusted
        self.deadline = config.call_timeout
        self._config = config
        self._runtime = runtime
        self._stack = AsyncExitStack()
        self._link: Link | None = None
        self._names: dict[str, str] = {}
        self._in_flight: list[CallContext] = []

    async def start(self) -> None:
        """Connect; bounded by `connect_timeout`.

        Raises:
            CapabilityUnavailable: the server did not come up; with the end of its standard error.
        """
        connected = False
        try:
            async with AsyncExitStack() as stack:
                # the scope stays open around the connection, since scopes close in the order in which they were opened;
                # once connected it has no deadline any more
                scope = stack.enter_context(anyio.CancelScope())
                scope.deadline = anyio.current_time() + self._config.connect_timeout
                link = await stack.enter_async_context(
                    connect(self.id, self._config, self._runtime, self._ask)
                )
                scope.deadline = math.inf
                self._link, self._stack = link, stack.pop_all()
                connected = True
        except SeamError:
            raise
        except (
            Exception
        ) as error:  # whatever the connection raises means that there is none; nothing is hidden
            raise self._down(f"cannot be reached: {type(error).__name__}: {error}") from error
        if not connected:
            raise self._down(f"did not answer the handshake within {self._config.connect_timeout:g} s")

    def _down(self, what: str) -> CapabilityUnavailable:
        wrote = self._link.stderr() if self._link else ""
        return CapabilityUnavailable(
            f"the MCP server of {self.id!r} {what}" + (f"; it wrote: {wrote}" if wrote else ""), reason=what
        )

    async def stop(self) -> None:
        """Close the connection; a started server is ended with its tree."""
        self._link = None
        await self._stack.aclose()

    async def schema(self, owner: str) -> Sequence[ToolSchema]:
        """The server's tools, all pages, under the names that the row gives them."""
        tools = await self._list()
        only = self._config.only
        chosen = [tool for tool in tools if only is None or tool.name in only]
        missing = set(only or ()) - {tool.name for tool in chosen}
        if missing:
            raise CapabilityUnavailable(
                f"the MCP server of {self.id!r} has no tool {', '.join(sorted(missing))}, which `only` names",
                reason="only",
            )
        self._names = {self._name(tool.name): tool.name for tool in chosen}
        return [schema(tool, self._name(tool.name)) for tool in chosen]

    def _name(self, theirs: str) -> str:
        return self._config.prefix + self._config.rename.get(theirs, theirs)

    async def _list(self) -> list[types.Tool]:
        client = self._connected().client
        found: list[types.Tool] = []
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if not cursor:
                return found

    def _connected(self) -> Link:
        if self._link is None:
            raise CapabilityUnavailable(f"the MCP server of {self.id!r} is not connected", reason="closed")
        return self._link

    async def available(self) -> str | None:
        """None while the connection is believed to stand."""
        if self._link is None:
            return "the server is not connected"
        return self._link.trouble()

    async def execute(self, owner: str, name: str, input: JsonValue, context: CallContext) -> Outcome:  # noqa: A002 - a word of the contract
        """Call the server; its progress is handed on, its questions go to the person behind the call."""
        link = self._connected()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            context.progress(message or "", done=progress, total=total)

        self._in_flight.append(context)
        try:
            result = await link.client.call_tool(
                self._names[name], cast("dict[str, object]", input), progress_callback=report
            )
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                return Unavailable(reason=await link.last_words(self._config.grace))
            return Failed(code=f"MCP_{error.code}".replace("-", "_"), message=error.message)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream) as error:
            return Unavailable(reason=f"{await link.last_words(self._config.grace)} ({type(error).__name__})")
        finally:
            self._in_flight.remove(context)
        return outcome(result)

    async def _ask(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        """A server's question, put to the person behind the call that is in flight.

        The protocol does not say which call a question is about: with several in flight it is declined.
        """
        port = self._in_flight[0].questions if len(self._in_flight) == 1 else None
        if port is None or not isinstance(params, types.ElicitRequestFormParams):
            return types.ElicitResult(action="decline")
        answer = await port.ask(
            Question(text=params.message, details=cast(JsonValue, params.requested_schema))
        )
        if not answer.answered or not isinstance(answer.value, dict):
            return types.ElicitResult(action="decline")
        return types.ElicitResult.model_validate({"action": "accept", "content": answer.value})
