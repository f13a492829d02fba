"""The one way from a request to a settled outcome."""

from __future__ import annotations

import anyio
from pydantic import JsonValue

from seam.tools_def import CallInfo, CallRequested, CallStarted, Outcome, Refused, ResolvedCall
from seam.tools_runtime._admission import (
    bounded_arguments,
    check_available,
    check_generation,
    check_permitted,
    find,
    validate,
)
from seam.tools_runtime._approval import Edited, consent
from seam.tools_runtime._bound_tool import BoundTool
from seam.tools_runtime._call import Call, Ending
from seam.tools_runtime._cut_short import cut_short
from seam.tools_runtime._execution import execute
from seam.tools_runtime._policy import Verdicts, judge
from seam.tools_runtime._resolution import resolve
from seam.tools_runtime._settlement import settle
from seam.tools_runtime._worker import Deserted, Worker


async def run_chain(call: Call, worker: Worker) -> None:
    """The body of a call's worker: leaves `call.outcome`, settled.

    Raises:
        TurnFailed: the record cannot be kept.
    """
    call.worker = worker  # the task may run before its maker has noted it
    detail = ""
    try:
        outcome, detail = await _until_the_end(call)
    except Ending as ending:
        outcome = ending.outcome
    except Deserted:
        call.session.note_late(
            call.id, "call.ended_late", f"code left behind in `{call.step}` came to its end"
        )
        return
    except anyio.get_cancelled_exc_class():
        if not worker.cancelled:
            raise  # foreign code cancelled itself
        outcome = cut_short(call)
    await settle(call, outcome, detail)


async def _until_the_end(call: Call) -> tuple[Outcome, str]:
    assert call.worker is not None
    tool = find(call)
    arguments = bounded_arguments(call.arguments, call.session.config)
    call.pending.append(_requested(call, tool, arguments))
    await call.worker.check()
    check_generation(call)
    tool = call.tool = check_permitted(call, tool)
    await check_available(call, tool)
    info, allowed_by = await _agreed(call, tool, arguments)
    check_generation(call)
    await _start(call, info.resolved, allowed_by)
    return await execute(call, tool, info)


def _requested(call: Call, tool: BoundTool | None, arguments: dict[str, JsonValue] | str) -> CallRequested:
    # what the tool declares secret stays so when it is not in view
    known = call.session.table.by_name.get(call.tool_name)
    if isinstance(arguments, str):
        shown: JsonValue = f"[omitted: {arguments}]"
    else:
        shown = known.shown(arguments) if known is not None else arguments
    return CallRequested.trusted(
        call=call.id,
        tool=call.tool_name,
        arguments=shown,
        descriptor=tool.descriptor.digest if tool is not None else None,
        source=tool.descriptor.source if tool is not None else None,
    )


async def _agreed(call: Call, tool: BoundTool, arguments: dict[str, JsonValue] | str) -> tuple[CallInfo, str]:
    """From arguments to consent; again from the start where the person who is asked changes them."""
    edited: Edited | None = None
    for _ in range(call.session.config.edits + 1):
        info, verdicts = await _judged(call, tool, arguments)
        try:
            return info, await consent(call, info.resolved, verdicts, edited)
        except Edited as edit:
            given = arguments
            edited, call.resolved = edit, None
            arguments = bounded_arguments(tool.restored(edit.arguments, given), call.session.config)
            _policy_phase(call)
    raise call.refuse("approval", "its arguments were changed too often by the one who is asked")


async def _judged(
    call: Call, tool: BoundTool, arguments: dict[str, JsonValue] | str
) -> tuple[CallInfo, Verdicts]:
    if isinstance(arguments, str):
        raise call.refuse("validation", arguments)
    validated = validate(call, tool, arguments)
    assert call.worker is not None
    if tool.resolves:
        call.step = "resolve"
        call.worker.phase(call.session.config.resolve_timeout, call.session.config.grace)
    resolved = call.resolved = await resolve(call, tool, validated)
    if tool.resolves:
        _policy_phase(call)
    info = call.info = _info(call, tool, resolved)
    verdicts = await judge(call, tool, resolved, info)
    if verdicts.denies:
        reasons = "; ".join(reason for _, reason in verdicts.denies)
        raise Ending(Refused(policy=verdicts.denies[0][0], reason=reasons))
    return info, verdicts


def _policy_phase(call: Call) -> None:
    assert call.worker is not None
    call.step = "policy"
    call.worker.phase(call.session.config.hook_timeout, call.session.config.grace)


def _info(call: Call, tool: BoundTool, resolved: ResolvedCall) -> CallInfo:
    opening = call.opening
    return CallInfo.trusted(
        turn=opening.turn,
        call=call.id,
        agent=opening.agent,
        session=opening.session,
        access=opening.access,
        descriptor=tool.descriptor,
        resolved=resolved,
    )


async def _start(call: Call, resolved: ResolvedCall, allowed_by: str) -> None:
    """The intent is durable when this returns; raises where the call was cancelled meanwhile."""
    assert call.worker is not None
    call.step = "start"
    call.worker.phase(call.session.config.journal_timeout, call.session.config.grace)
    await call.worker.check()
    await call.flush(
        CallStarted.trusted(
            call=call.id,
            digest=resolved.digest,
            actions=resolved.actions,
            summary=resolved.summary,
            allowed_by=allowed_by,
            deadline=resolved.deadline,
        )
    )
    await call.worker.check()
    call.step = "run"
    call.worker.phase(resolved.deadline, call.session.config.grace)
