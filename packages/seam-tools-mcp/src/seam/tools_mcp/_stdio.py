"""One client over standard input and output."""

from __future__ import annotations

import secrets
from typing import cast

import anyio
from mcp.server.stdio import stdio_server

from seam.tools_def import Access, TurnGate
from seam.tools_mcp._config import McpConfig
from seam.tools_mcp._door import Door
from seam.tools_mcp._sessions import Conversation
from seam.tools_mcp._standard_input import standard_input
from seam.tools_mcp._standard_output import standard_output

LAST_WORDS = 2.0
"""Seconds that a client which sends nothing more has for taking the answers that are still under way."""


async def serve_stdio(gate: TurnGate, config: McpConfig) -> str:
    """Serve until standard input ends; answers why it ended. The session ends with it: jobs and grants too."""
    conversation = Conversation(
        id=f"mcp-{secrets.token_hex(8)}",
        agent=config.agent,
        access=Access(principal=config.principal, platform="mcp"),
    )
    try:
        async with anyio.create_task_group() as tasks:
            door = Door(gate, config, tasks, lambda ctx: conversation)
            unsubscribe = gate.subscribe(lambda tools: door.published(tools, lambda: (conversation,)))
            try:
                await door.refresh(conversation)
                with standard_input() as source, standard_output() as wire:
                    # the SDK writes and flushes it and does nothing else with it
                    sink = cast("anyio.AsyncFile[str]", wire)
                    async with stdio_server(source, sink) as (read, write):
                        await door.server.run(read, write, door.initialization())
                        wire.last_words(LAST_WORDS)
            finally:
                unsubscribe()
                door.close()
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await gate.end_session(conversation.agent, conversation.id)
    return "standard input is at its end"
