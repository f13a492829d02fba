"""Between Seam's words and MCP's: tools, outcomes, resources."""

from __future__ import annotations

from typing import cast

import mcp_types as types
from pydantic import JsonValue

from seam.tools_def import Completed, Content, Descriptor, Image, Outcome, Resource, Text, outcome_text


def tool(descriptor: Descriptor) -> types.Tool:
    """A descriptor as MCP lists it. Hints come from effects: known ones only."""
    kinds, known = descriptor.effects.kinds, descriptor.effects.known
    return types.Tool(
        name=descriptor.name,
        description=descriptor.description,
        input_schema=cast("dict[str, object]", descriptor.parameters),
        output_schema=cast("dict[str, object] | None", descriptor.output),
        annotations=types.ToolAnnotations(
            read_only_hint=not kinds & {"writes", "executes"} if known else None,
            destructive_hint=bool(kinds & {"writes", "executes"}) if known else None,
            open_world_hint="network" in kinds if known else None,
        ),
    )


def result(outcome: Outcome, has_output_schema: bool) -> types.CallToolResult:
    """An outcome as MCP answers it. Whatever is not a success is an error result, so that the model sees it and goes on."""
    success = isinstance(outcome, Completed) and outcome.success
    content: list[types.ContentBlock] = []
    text = outcome_text(outcome)
    if text:
        content.append(types.TextContent(type="text", text=text))
    content += [block for item in outcome.content if (block := _block(item)) is not None]
    structured = outcome.value if isinstance(outcome, Completed) and isinstance(outcome.value, dict) else None
    if structured is None and has_output_schema and success:
        structured = cast("dict[str, JsonValue] | None", outcome.value)
    return types.CallToolResult(
        content=content,
        structured_content=structured,
        is_error=not success,
        _meta={"seam/outcome": _summary(outcome)},
    )


def _summary(outcome: Outcome) -> dict[str, JsonValue]:
    # the kind of an outcome survives for clients that know Seam; value and content stand in the result itself
    return cast("dict[str, JsonValue]", outcome.model_dump(mode="json", exclude={"value", "content"}))


def _block(item: Content) -> types.ContentBlock | None:
    match item:
        case Text():
            return None  # already in the text
        case Image():
            return types.ImageContent(type="image", data=item.data, mime_type=item.media_type)
        case Resource():
            return types.ResourceLink(
                type="resource_link",
                name=item.title or item.path.rsplit("/", 1)[-1],
                uri=resource_uri(item.path),
                mime_type=item.media_type,
                size=item.size,
            )


def resource_uri(path: str) -> str:
    """The URI of a path of the world that an outcome pointed at."""
    from urllib.parse import quote

    return "seam-file://" + quote(path)
