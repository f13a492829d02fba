"""The end of a call: hooks behind it, the settled record, the observers. Every way leads through here."""

from __future__ import annotations

import anyio

from seam.tools_def import CallSettled, Failed, Outcome, SettledCall, settled
from seam.tools_runtime._call import Call
from seam.tools_runtime._cut_short import cut_short
from seam.tools_runtime._execution import amend
from seam.tools_runtime._worker import Worker


async def settle(call: Call, outcome: Outcome, detail: str) -> None:
    """Settle a call from its own worker.

    Raises:
        TurnFailed: the record cannot be written.
    """
    worker = call.worker
    assert worker is not None
    config = call.session.config
    call.reached = outcome
    if worker.deserted:
        _too_late(call, outcome)
        return
    if call.ran:
        call.step = "after"
        worker.phase(config.hook_timeout, config.grace)
        outcome = await _amended(call, outcome)
        if worker.deserted:
            _too_late(call, outcome)
            return
    call.step = "settle"
    worker.phase(config.journal_timeout, config.grace)
    await _write(call, outcome, detail, worker=worker)
    call.step = "observe"
    worker.phase(config.hook_timeout, config.grace)
    await _observe(call)


def _too_late(call: Call, outcome: Outcome) -> None:
    text = f"code that was left behind came to its end: {outcome.kind}"
    if isinstance(outcome, Failed):
        text += f" ({outcome.code})"
    call.session.note_late(call.id, "call.ended_late", text)


async def settle_deserted(call: Call) -> None:
    """Settle a call whose code does not come back, from the task of the one who waited.

    Raises:
        TurnFailed: the record cannot be written.
    """
    match call.step:
        case "settle" | "start" | "ask":
            raise call.session.fail("it neither writes nor gives up")
        case "observe":
            call.session.note_late(
                call.id, "hook.abandoned", "an observer of `settled` does not end; it was left behind"
            )
            return
        case "after":
            assert call.reached is not None
            call.note("hook.abandoned", "a hook behind the call does not end; it was left behind")
            outcome, detail = call.reached, ""
        case step:
            outcome = cut_short(call, abandoned=True)
            detail = f"its code in `{step}` does not end, although it was told to; it was left behind"
    with anyio.CancelScope(shield=True):
        await _write(call, outcome, detail)
        with anyio.move_on_after(call.session.config.hook_timeout):
            await _observe(call)


async def settle_broken(call: Call, failure: BaseException) -> None:
    """Settle a call under which the chain itself broke: a defect of ours must not leave a call open.

    Raises:
        TurnFailed: the record cannot be written.
    """
    text = f"{type(failure).__name__}: {failure}"
    outcome = Failed(
        code="CHAIN_BROKEN", message=f"Seam's own chain broke; please report it: {text}", retryable="no"
    )
    await _write(call, outcome, f"a defect of the chain in `{call.step}`: {text}")


async def _amended(call: Call, outcome: Outcome) -> Outcome:
    worker, info = call.worker, call.info
    assert worker is not None
    assert info is not None
    if not worker.cancelled:
        try:
            return await amend(call, info, outcome)
        except anyio.get_cancelled_exc_class():
            if not worker.cancelled:
                raise
            call.note("hook.error", "the hooks behind the call did not end in time")
            return outcome
    # a call that was cut short is told to them too, while its task is cancelled
    limit = anyio.current_time() + call.session.config.hook_timeout
    with anyio.CancelScope(shield=True, deadline=limit):
        return await amend(call, info, outcome)
    call.note("hook.error", "the hooks behind the call did not end in time")
    return outcome


async def _write(call: Call, outcome: Outcome, detail: str, *, worker: Worker | None = None) -> None:
    written = outcome
    if call.tool is not None and outcome.value is not None:
        value = call.tool.written(outcome.value)
        written = outcome if value is outcome.value else outcome.model_copy(update={"value": value})
    record = CallSettled.trusted(
        call=call.id,
        tool=call.tool_name,
        outcome=written,
        ran=call.ran,
        seconds=call.seconds,
        detail=detail,
    )
    pending, call.pending = call.pending, []
    await call.session.write(*pending, record, worker=worker)
    call.outcome = outcome
    call.over = True


async def _observe(call: Call) -> None:
    opening, outcome = call.opening, call.outcome
    assert outcome is not None  # it was just written
    told = SettledCall.trusted(
        turn=opening.turn,
        call=call.id,
        agent=opening.agent,
        session=opening.session,
        tool=call.tool_name,
        resolved=call.resolved,
        outcome=outcome,
        seconds=call.seconds,
    )
    try:
        await opening.emitter.observe(settled, told)
    except Exception as error:  # observers cannot change anything, not even by raising
        call.session.note_late(
            call.id, "hook.error", f"an observer of `settled` raised {type(error).__name__}: {error}"
        )
