"""The outcome of a call that did not come to its own end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seam.tools_def import CallDecided, Cancelled, Failed, NotSerialisable, Outcome, Refused
from seam.tools_runtime._results import kept_whole

if TYPE_CHECKING:
    from seam.tools_runtime._call import Call


def cut_short(call: Call, *, abandoned: bool = False) -> Outcome:
    """By what it was doing, and by who ended it: somebody, or its time."""
    worker = call.worker
    reason = worker.reason if worker is not None else None
    if reason is not None:
        return with_kept(call, Cancelled(reason=reason, abandoned=abandoned and call.ran))
    config = call.session.config
    match call.step:
        case "policy":
            return _refused(call, "policy", f"the policy did not answer within {config.hook_timeout:g} s")
        case "approval":
            return _refused(call, "approval", "nobody answered in time")
        case "resolve":
            message = f"the tool did not say within {config.resolve_timeout:g} s what it would do"
            return Failed(code="RESOLVE_TIMEOUT", message=message)
        case _:
            seconds = call.resolved.deadline if call.resolved is not None else 0.0
            text = f"its deadline of {seconds:g} s was over"
            return with_kept(call, Cancelled(reason=text, deadline=True, abandoned=abandoned and call.ran))


def _refused(call: Call, policy: str, reason: str) -> Refused:
    digest = call.resolved.digest if call.resolved is not None else None
    call.pending.append(CallDecided(call=call.id, verdict="deny", by=policy, reason=reason, digest=digest))
    return Refused(policy=policy, reason=reason)


def with_kept(call: Call, outcome: Cancelled) -> Outcome:
    """With what the tool left behind, where that can be kept."""
    if call.kept is None:
        return outcome
    value, content = call.kept
    try:
        whole = kept_whole(
            outcome.model_copy(update={"value": value, "content": content}), call.session.config.result_bytes
        )
    except (NotSerialisable, ValueError) as problem:
        call.note("result.dropped", f"what the tool left behind cannot be kept: {problem}")
        return outcome
    if isinstance(whole, Failed):  # larger than the bound: the cut text is kept
        call.note("result.cut", whole.message)
        return outcome.model_copy(update={"content": whole.content})
    return whole
