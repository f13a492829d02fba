"""The MCP server over a gate: listing, calling, reading what outcomes point at."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import TypeAlias

import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError

from seam.kernel import SeamError
from seam.tools_def import Outcome, PublishedTools, Resource, TurnGate
from seam.tools_mcp._approval import Elicit, ElicitingApproval, ElicitingQuestions
from seam.tools_mcp._calls import PendingCall, PendingCalls
from seam.tools_mcp._config import McpConfig
from seam.tools_mcp._files import read_file
from seam.tools_mcp._listing import Views
from seam.tools_mcp._mapping import resource_uri, result, tool
from seam.tools_mcp._progress import ProgressLine
from seam.tools_mcp._sessions import Conversation

Request: TypeAlias = ServerRequestContext[dict[str, object], object]
Identify = Callable[[Request], Conversation]
"""Which session a request belongs to."""

RESOURCES_KEPT = 1000
"""Resources of one session that stay readable; the oldest are forgotten first."""


class Door:
    """Serves one deployment to MCP clients. How they are connected is the transport's business."""

    def __init__(self, gate: TurnGate, config: McpConfig, tasks: TaskGroup, identify: Identify) -> None:
        self._gate = gate
        self._config = config
        self._identify = identify
        self._views = Views(gate)
        self._pending = PendingCalls(tasks, config.approval_timeout)
        self._bus = InMemorySubscriptionBus()
        self._tasks = tasks
        self._listen = ListenHandler(self._bus)
        self.server: Server[dict[str, object]] = Server(
            "seam",
            version=version("seam-tools-mcp"),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_subscriptions_listen=self._listen,
        )

    async def refresh(self, conversation: Conversation) -> None:
        """Take the instructions of the published generation; they are told at the start of a connection."""
        view = await self._views.of(conversation.agent, conversation.access)
        self.server.instructions = view.instructions or None

    def initialization(self) -> InitializationOptions:
        """What a client is told at its start."""
        return self.server.create_initialization_options(NotificationOptions(tools_changed=True))

    def close(self) -> None:
        """End the streams of clients that listen for changes."""
        self._listen.close()

    def published(self, tools: PublishedTools, conversations: Callable[[], tuple[Conversation, ...]]) -> None:
        """A generation was published: clients are told that the list of tools may have changed."""
        self._views.forget()
        self._tasks.start_soon(self._tell, conversations)

    async def _tell(self, conversations: Callable[[], tuple[Conversation, ...]]) -> None:
        for conversation in conversations():
            await self.refresh(conversation)
            if conversation.channel is not None:
                await (
                    conversation.channel.send_tool_list_changed()
                )  # best effort by contract: it never raises
        await self._bus.publish(ToolsListChanged())

    async def _list_tools(
        self, ctx: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        conversation = self._of(ctx)
        try:
            view = await self._views.of(conversation.agent, conversation.access)
        except SeamError as error:
            raise _refusal(error) from error
        return types.ListToolsResult(tools=[tool(descriptor) for descriptor in view.tools])

    async def _call_tool(
        self, ctx: Request, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        conversation = self._of(ctx)
        try:
            step = await self._step(ctx, params, conversation)
        except SeamError as error:
            raise _refusal(error) from error
        if not isinstance(step, types.InputRequiredResult):
            return await self._answer(params.name, conversation, step)
        return step

    async def _step(
        self, ctx: Request, params: types.CallToolRequestParams, conversation: Conversation
    ) -> Outcome | types.InputRequiredResult:
        """The outcome; or a question, where this client's person is asked by another request."""
        if params.request_state is not None:
            call = self._resumed(conversation, params)
        elif _elicits(ctx) and not ctx.session.can_send_request:
            call = self._pending.begin(lambda call: self._work(ctx, params, conversation, call.elicit))
        else:
            return await self._work(ctx, params, conversation, _direct(ctx))
        step = await call.next()
        if not isinstance(step, types.ElicitRequest):
            return step
        self._pending.keep(conversation.id, call)
        return types.InputRequiredResult(input_requests={"answer": step}, request_state=call.state)

    async def _answer(self, name: str, conversation: Conversation, step: Outcome) -> types.CallToolResult:
        _remember(conversation, step)
        view = await self._views.of(conversation.agent, conversation.access)
        known = view.by_name.get(name)
        return result(step, known is not None and known.output is not None)

    def _resumed(self, conversation: Conversation, params: types.CallToolRequestParams) -> PendingCall:
        call = self._pending.take(conversation.id, params.request_state or "")
        if call is None:
            raise MCPError(
                types.INVALID_PARAMS, "this call waits for no answer any more; call the tool again"
            )
        answer = (params.input_responses or {}).get("answer")
        call.answer(answer if isinstance(answer, types.ElicitResult) else types.ElicitResult(action="cancel"))
        return call

    async def _work(
        self,
        ctx: Request,
        params: types.CallToolRequestParams,
        conversation: Conversation,
        elicit: Elicit | None,
    ) -> Outcome:
        approval = (
            ElicitingApproval(elicit, conversation.access.principal, self._config.approval_timeout)
            if elicit
            else None
        )
        questions = ElicitingQuestions(elicit) if elicit else None
        async with (
            ProgressLine(self._tasks, ctx.session.report_progress) as progress,
            self._gate.open(
                conversation.agent,
                session=conversation.id,
                access=conversation.access,
                approval=approval,
                questions=questions,
                parallel=True,
            ) as turn,
        ):
            return await turn.call(params.name, dict(params.arguments or {}), progress=progress)

    async def _list_resources(
        self, ctx: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        conversation = self._of(ctx)
        return types.ListResourcesResult(
            resources=[
                types.Resource(name=item.title or uri, uri=uri, mime_type=item.media_type, size=item.size)
                for uri, item in conversation.resources.items()
            ]
        )

    async def _read_resource(
        self, ctx: Request, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        item = self._of(ctx).resources.get(str(params.uri))
        if item is None:
            raise MCPError(
                types.INVALID_PARAMS,
                f"{params.uri} is no resource of this session; list them to see which there are",
            )
        return types.ReadResourceResult(
            contents=[await read_file(str(params.uri), item, self._config.resource_bytes)]
        )

    def _of(self, ctx: Request) -> Conversation:
        conversation = self._identify(ctx)
        conversation.channel = ctx.session
        return conversation


def _elicits(ctx: Request) -> bool:
    """Whether this client's person can be asked; otherwise policy alone decides."""
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and capabilities.elicitation is not None


def _direct(ctx: Request) -> Elicit | None:
    """How she is asked while the request is open."""
    if not _elicits(ctx):
        return None

    async def ask(message: str, schema: dict[str, object]) -> types.ElicitResult:
        return await ctx.session.elicit_form(message, schema, ctx.request_id)

    return ask


def _remember(conversation: Conversation, outcome: Outcome) -> None:
    for item in outcome.content:
        if isinstance(item, Resource):
            conversation.resources[resource_uri(item.path)] = item
    while len(conversation.resources) > RESOURCES_KEPT:
        conversation.resources.popitem(last=False)


def _refusal(error: SeamError) -> MCPError:
    return MCPError(
        types.INTERNAL_ERROR, error.message, data={"code": error.code, "retryable": error.retryable}
    )
