"""The first questions: is the generation live, is the tool there, may it be called, do the arguments fit."""

from __future__ import annotations

from typing import cast

from pydantic import JsonValue

from seam.tools_def import LeaseInvalid, NotSerialisable, Unavailable, frozen_json
from seam.tools_runtime._bound_tool import BoundTool, InvalidArguments, Validated
from seam.tools_runtime._call import Call, Ending
from seam.tools_runtime._config import RuntimeConfig
from seam.tools_runtime._view import lacks, out_of_view


def check_generation(call: Call) -> None:
    """Raises `Ending` where no call may start any more."""
    if call.opening.lease.live:
        return
    try:
        call.opening.lease.check()
        reason = "the generation takes no calls any more; open a new turn"
    except LeaseInvalid as invalid:
        reason = invalid.message
    raise call.refuse("generation", reason)


def find(call: Call) -> BoundTool | None:
    """The tool as its caller may know it: a hidden one only by a caller that was given its name."""
    tool = call.session.table.by_name.get(call.tool_name)
    if tool is None:
        return None
    visibility = tool.descriptor.visibility
    if visibility.hidden and call.tool_name not in call.opening.agent.call_hidden:
        return None
    return None if out_of_view(visibility, call.opening.access) else tool


def check_permitted(call: Call, tool: BoundTool | None) -> BoundTool:
    """Raises `Ending` where the tool is not in view or not permitted."""
    if tool is None:
        raise call.refuse(
            "visibility", f"there is no tool {call.tool_name[:80]!r} in view; call one that is listed"
        )
    try:
        missing = lacks(tool.descriptor.visibility, call.opening)
    except Exception as error:  # a policy that raises means refused
        raise call.refuse(
            "permissions", f"permissions could not be asked: {type(error).__name__}: {error}"
        ) from error
    if missing is not None:
        raise call.refuse("permissions", f"tool {call.tool_name!r} is not permitted: {missing}")
    return tool


async def check_available(call: Call, tool: BoundTool) -> None:
    """Raises `Ending` where what the tool stands on is gone."""
    if not tool.asks_availability:
        return
    try:
        reason = await tool.available()
    except Exception as error:  # a provider that cannot even say so is not available
        reason = f"{type(error).__name__}: {error}"
    if reason is not None:
        raise Ending(Unavailable(reason=reason))


def bounded_arguments(given: object, config: RuntimeConfig) -> dict[str, JsonValue] | str:
    """The arguments, frozen; or why they are not taken. Cheap for what is far too large."""
    if not isinstance(given, dict):
        return f"arguments must be a JSON object, and are a {type(given).__name__}"
    problem = oversize(cast("dict[str, JsonValue]", given), config.argument_bytes, config.argument_depth)
    if problem is not None:
        return problem
    try:
        return cast("dict[str, JsonValue]", frozen_json(cast("dict[object, object]", given)))
    except NotSerialisable as unfit:
        return f"arguments are not JSON: {unfit}"


def oversize(value: JsonValue, most: int, deepest: int) -> str | None:
    """Why a value is too large or too deep, found without walking further than the bound; or None."""
    left = most
    waiting: list[tuple[object, int]] = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        if depth > deepest + 1:
            return f"arguments are nested deeper than {deepest} levels"
        if isinstance(item, str):
            left -= len(item) if item.isascii() else len(item.encode("utf-8", "surrogatepass"))
        elif isinstance(item, dict):
            for key, inner in cast("dict[object, object]", item).items():
                left -= len(key) if isinstance(key, str) else 1
                waiting.append((inner, depth + 1))
        elif isinstance(item, (list, tuple)):
            waiting += [(inner, depth + 1) for inner in cast("list[object]", item)]
        left -= 2
        if left < 0:
            return f"arguments are larger than {most} bytes; send less, or a path instead of the content"
    return None


def validate(call: Call, tool: BoundTool, arguments: dict[str, JsonValue]) -> Validated:
    """Raises `Ending` where the arguments do not fit."""
    try:
        return tool.validate(arguments)
    except InvalidArguments as invalid:
        raise call.refuse("validation", f"the arguments do not fit: {invalid}") from None
    except Exception as error:  # a validator of the tool's own that breaks instead of answering
        raise call.refuse(
            "validation", f"the arguments could not be checked: {type(error).__name__}: {error}"
        ) from error
