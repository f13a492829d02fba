"""Between MCP's words and Seam's: tools, effects, results."""

from __future__ import annotations

from typing import cast

import mcp_types as types
from pydantic import JsonValue, ValidationError

from seam.tools_def import (
    Completed,
    Content,
    EffectKind,
    Effects,
    Image,
    Outcome,
    Text,
    ToolSchema,
    outcome_adapter,
)


def schema(tool: types.Tool, name: str) -> ToolSchema:
    """One tool of the server, under the name that it gets here. Its hints become effects; whether they are believed is the row's."""
    return ToolSchema(
        name=name,
        description=tool.description or tool.title or tool.name,
        parameters=cast(JsonValue, tool.input_schema),
        output=cast(JsonValue, tool.output_schema),
        effects=_effects(tool.annotations),
        concurrency="parallel",
    )


def _effects(hints: types.ToolAnnotations | None) -> Effects:
    # the protocol's own defaults: not read-only, open world
    read_only = hints is not None and hints.read_only_hint is True
    open_world = hints is None or hints.open_world_hint is not False
    kinds: set[EffectKind] = {"reads"} if read_only else {"reads", "writes", "executes"}
    if open_world:
        kinds.add("network")
    return Effects(kinds=frozenset(kinds))


def outcome(result: types.CallToolResult) -> Outcome:
    """A result as an outcome. A server of Seam says how its own call ended; that kind survives."""
    content = tuple(_content(block) for block in result.content)
    value = cast(JsonValue, result.structured_content)
    stated = (result.meta or {}).get("seam/outcome")
    if isinstance(stated, dict) and result.is_error:
        told = cast("dict[str, object]", stated) | {
            "value": value,
            "content": [c.model_dump() for c in content],
        }
        try:
            return outcome_adapter.validate_python(told)
        except ValidationError:
            pass  # another version of those words: the ordinary mapping below loses nothing that MCP says
    return Completed(value=value, content=content, success=not result.is_error)


def _content(block: types.ContentBlock) -> Content:
    match block:
        case types.TextContent():
            return Text(text=block.text)
        case types.ImageContent():
            return Image(media_type=block.mime_type, data=block.data)
        case types.ResourceLink():
            # a resource of that server is no path of our world; the model is told where it is
            return Text(text=f"[resource {block.name}: {block.uri}]")
        case types.EmbeddedResource() if isinstance(block.resource, types.TextResourceContents):
            return Text(text=block.resource.text)
        case types.EmbeddedResource():
            return Text(text=f"[binary resource {block.resource.uri}]")
        case _:
            return Text(text=f"[{block.type} content is not shown]")
