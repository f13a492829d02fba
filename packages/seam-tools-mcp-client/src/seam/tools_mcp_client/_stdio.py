"""A server's standard streams as an MCP transport, over a process of the deployment's world."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import mcp_types as types
from anyio.abc import ByteReceiveStream, ByteSendStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage

from seam.subprocess_def import Process

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""One line of a server at most; beyond it the connection is ended instead of filling memory."""


@asynccontextmanager
async def stdio_transport(process: Process, grace: float) -> AsyncGenerator[TransportStreams]:
    """Read and write messages, one JSON text a line, until the block ends; then let the server end by itself.

    Reading and writing are tasks of their own: a server that floods its output before it reads cannot block us.
    """
    to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, process.source("stdout"), to_session)
        tasks.start_soon(_write, process.sink("stdin"), from_session)
        try:
            yield from_server, to_server
        finally:
            with anyio.CancelScope(shield=True):
                to_server.close()
                await process.sink("stdin").aclose()
                with anyio.move_on_after(grace):
                    await process.wait_leader()
                await process.terminate()
            from_server.close()
            tasks.cancel_scope.cancel()


async def _read(source: ByteReceiveStream, out: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
    async with out:
        buffer = bytearray()
        while True:
            try:
                buffer += await source.receive(65536)
            except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
                return  # the end of the stream tells the session that the connection is over
            *lines, rest = buffer.split(b"\n")
            buffer = bytearray(rest)
            for line in lines:
                if line.strip():
                    try:
                        await out.send(_parse(bytes(line)))
                    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                        return  # the session is over
            if len(buffer) > MAX_MESSAGE_BYTES:
                return


def _parse(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error  # a stray line of output: the session skips it


async def _write(sink: ByteSendStream, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with messages:
        async for message in messages:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await sink.send(text.encode() + b"\n")
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # the server reads no more; the session hears of it from the other stream
