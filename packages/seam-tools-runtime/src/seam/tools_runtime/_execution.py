"""The tool runs: inside the hooks around it, under its deadline, and what it gives becomes an outcome."""

from __future__ import annotations

from typing import cast

import anyio

from seam.tools_def import (
    CallInfo,
    Cancelled,
    Completed,
    Failed,
    NotSerialisable,
    Outcome,
    after_call,
    around_call,
)
from seam.tools_runtime._bound_tool import BoundTool
from seam.tools_runtime._call import Call
from seam.tools_runtime._cut_short import cut_short, with_kept
from seam.tools_runtime._problems import cut
from seam.tools_runtime._results import OUTCOMES, kept_whole, outcome_of, outcome_of_error


async def execute(call: Call, tool: BoundTool, info: CallInfo) -> tuple[Outcome, str]:
    """The outcome, and what really happened where that differs. Cancellation passes through."""

    made: list[tuple[Completed, object, object]] = []

    async def innermost(payload: CallInfo) -> Outcome:
        if payload.resolved is not info.resolved:
            return Failed(
                code="HOOK_CHANGED_CALL",
                message="a hook around the call passed on another call than the one that was allowed",
                retryable="no",
            )
        call.ran = True
        outcome = await _run(call, tool, info)
        if type(outcome) is Completed:
            made.append((outcome, outcome.value, outcome.content))
        return outcome

    try:
        outcome: object = await call.opening.emitter.around(around_call, info, innermost)
        kept = made[-1][0] if made and _untouched(outcome, *made[-1]) else _checked(outcome, call)
    except Exception as error:  # the innermost step raises nothing: this is a hook's
        kept = Failed(
            code="HOOK_FAILED",
            message=cut(f"a hook around the call failed: {type(error).__name__}: {error}", 1000),
            retryable="unknown",
        )
    assert call.worker is not None
    if call.worker.cancelled:
        return _ended_late(call, kept)
    return kept, ""


async def _run(call: Call, tool: BoundTool, info: CallInfo) -> Outcome:
    limit = call.session.config.result_bytes
    try:
        result = await tool.run(info.resolved, call.context)
    except anyio.get_cancelled_exc_class():
        if call.worker is None or call.worker.cancelled:
            raise
        return Failed(code="TOOL_CANCELLED_ITSELF", message="the tool's code cancelled its own task")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also SystemExit: a tool's error is an outcome, whatever it is
        return outcome_of_error(error)
    return outcome_of(result, tool, limit)


def _untouched(outcome: object, made: Completed, value: object, content: object) -> bool:
    """Whether the hooks passed on what the tool made, which is frozen and measured already."""
    return outcome is made and made.value is value and made.content is content


def _checked(outcome: object, call: Call) -> Outcome:
    if type(outcome) not in OUTCOMES:
        return Failed(
            code="HOOK_FAILED",
            message=f"a hook around the call answered with a {type(outcome).__name__}, not an outcome",
        )
    try:
        return kept_whole(cast(Outcome, outcome), call.session.config.result_bytes)
    except (NotSerialisable, ValueError) as problem:
        return Failed(code="HOOK_FAILED", message=cut(f"a hook's outcome cannot be kept: {problem}", 1000))


def _ended_late(call: Call, outcome: Outcome) -> tuple[Outcome, str]:
    """It was told to stop and came to an end of its own: the outcome is cancelled, the record says what happened."""
    detail = f"the tool went on after it was told to stop, and ended: {outcome.kind}"
    if isinstance(outcome, Failed):
        detail += f" ({outcome.code}: {cut(outcome.message, 500)})"
    call.kept = (
        (outcome.value, outcome.content) if outcome.content or outcome.value is not None else call.kept
    )
    short = cut_short(call)
    return (with_kept(call, short) if isinstance(short, Cancelled) else short), detail


async def amend(call: Call, info: CallInfo, outcome: Outcome) -> Outcome:
    """The hooks behind the call: they replace content and add context; how the call ended stays."""

    async def innermost(payload: CallInfo) -> Outcome:
        return outcome

    try:
        amended: object = await call.opening.emitter.around(after_call, info, innermost)
    except Exception as error:  # contained by contract: the outcome stays
        call.note("hook.error", f"a hook after the call raised {type(error).__name__}: {error}")
        return outcome
    if amended is outcome:
        return outcome
    checked = _checked(amended, call)
    if checked.kind != outcome.kind:
        call.note("hook.error", f"a hook after the call turned {outcome.kind} into {checked.kind}; it stays")
        return outcome
    return checked
