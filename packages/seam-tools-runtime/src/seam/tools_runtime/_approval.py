"""Consent: by a grant, or by asking once, with all reasons, for one digest."""

from __future__ import annotations

import math
import uuid
from datetime import UTC, datetime, timedelta
from typing import cast

from pydantic import JsonValue

from seam.tools_def import (
    ApprovalAnswer,
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalPort,
    ApprovalRequest,
    Approve,
    Deny,
    Edit,
    Expired,
    Grant,
    ResolvedCall,
)
from seam.tools_runtime._call import Call, Ending
from seam.tools_runtime._cut_short import cut_short
from seam.tools_runtime._policy import Verdicts
from seam.tools_runtime._problems import cut
from seam.tools_runtime._worker import Deserted


class Edited(Exception):
    """The person answered with other arguments; the chain starts again at validation."""

    def __init__(self, by: str, arguments: JsonValue, reasons: frozenset[str]) -> None:
        super().__init__(by)
        self.by = by
        self.arguments = arguments
        self.reasons = reasons


async def consent(call: Call, resolved: ResolvedCall, verdicts: Verdicts, edited: Edited | None) -> str:
    """Who allows the call; raises `Ending` where nobody does, `Edited` where the person changes it."""
    if not verdicts.reasons:
        return verdicts.allowed_by or "effects"
    if edited is not None and edited.reasons.issuperset(verdicts.reasons):
        # she wrote these arguments, for these very reasons
        call.decided("allow", f"approval: {edited.by}", "approved with the arguments that she wrote")
        return f"approval: {edited.by}"
    granted = _granted(call, resolved)
    if granted is not None:
        return granted
    port = call.opening.approval
    if port is None:
        raise call.refuse(
            "approval",
            f"it needs an approval, and this turn has nobody to ask ({'; '.join(verdicts.reasons)})",
        )
    call.step = "approval"
    _wait_without_end(call)
    async with call.session.asking:
        # what was said while this call waited for its question may speak of this digest too
        said = call.session.refused.get(resolved.digest)
        if said is not None:
            raise call.refuse("approval", f"{said[0]} has said no to exactly this in this turn")
        granted = _granted(call, resolved)
        if granted is not None:
            return granted
        call.session.check_open()
        return await _ask(call, port, resolved, verdicts)


def _wait_without_end(call: Call) -> None:
    # a person may take her time; only the caller or the turn's end stops the waiting
    assert call.worker is not None
    call.worker.phase(math.inf, 0)


def _granted(call: Call, resolved: ResolvedCall) -> str | None:
    opening = call.opening
    try:
        grant = opening.grants.find(
            resolved, opening.turn, call.session.owner, opening.agent, opening.access, opening.permissions
        )
    except Exception as error:  # a policy that raises means refused
        raise call.refuse(
            "grants", f"the grants could not be asked: {type(error).__name__}: {error}"
        ) from error
    if grant is None:
        return None
    what = f"the rule {grant.rule}" if grant.rule is not None else "exactly this"
    call.decided("allow", f"grant: {grant.id}", f"{grant.given_by} has granted {what} for the {grant.reach}")
    return f"grant: {grant.id}"


def _rules(call: Call, resolved: ResolvedCall, verdicts: Verdicts) -> tuple[str, ...]:
    """What a person may grant for the session instead of this one digest."""
    opening = call.opening
    if opening.permissions is None:
        return ()
    if verdicts.rules or not verdicts.unspoken:
        return tuple(verdicts.rules)
    try:
        return opening.permissions.offers(resolved, opening.agent, opening.access)
    except Exception as error:  # a policy that raises means refused
        raise call.refuse("permissions", f"the policy raised {type(error).__name__}: {error}") from error


async def _ask(call: Call, port: ApprovalPort, resolved: ResolvedCall, verdicts: Verdicts) -> str:
    request = ApprovalRequest.trusted(
        approval=f"approval-{uuid.uuid4().hex}",
        call=call.id,
        resolved=resolved,
        reasons=tuple(verdicts.reasons),
        rules=_rules(call, resolved, verdicts),
        owner=call.session.owner,
        access=call.opening.access,
    )
    call.pending.append(
        ApprovalAsked.trusted(
            call=call.id,
            approval=request.approval,
            digest=resolved.digest,
            reasons=request.reasons,
            summary=resolved.summary,
        )
    )
    assert call.worker is not None
    call.step = "ask"
    call.worker.phase(call.session.config.journal_timeout, call.session.config.grace)
    await call.flush()
    await call.worker.check()
    call.step = "approval"
    answer = await _answered(call, port, request)
    return _judged(call, request, answer)


async def _answered(call: Call, port: ApprovalPort, request: ApprovalRequest) -> ApprovalAnswer:
    assert call.worker is not None
    call.worker.phase(call.session.config.approval_timeout or math.inf, call.session.config.grace)
    done = False
    try:
        answer = cast(object, await port.ask(request))
        done = True
    except Exception as error:  # a port that raises means refused
        done = True
        reason = f"the approval could not be asked for: {type(error).__name__}: {error}"
        _record(call, request, "error", reason=reason)
        raise call.refuse("approval", reason) from error
    finally:
        if not done:
            kind = "expired" if call.worker.reason is None else "cancelled"
            _record(call, request, kind, reason=call.worker.reason or "")
    if call.worker.deserted:
        raise Deserted
    if call.worker.cancelled:
        # it ignored its cancellation, and comes too late
        _record(call, request, _kind(answer), by=getattr(answer, "by", ""), late=True)
        raise Ending(cut_short(call))
    if not isinstance(answer, (Approve, Edit, Deny, Expired)):
        reason = f"the approval port answered with a {type(answer).__name__}"
        _record(call, request, "error", reason=reason)
        raise call.refuse("approval", reason)
    return answer


def _kind(answer: object) -> str:
    return answer.kind if isinstance(answer, (Approve, Edit, Deny, Expired)) else "error"


def _judged(call: Call, request: ApprovalRequest, answer: ApprovalAnswer) -> str:
    match answer:
        case Approve():
            return _approved(call, request, answer)
        case Edit():
            tool = call.tool
            shown = answer.arguments if tool is None else tool.shown(answer.arguments)
            _record(call, request, "edit", by=answer.by, arguments=shown)
            raise Edited(answer.by, answer.arguments, frozenset(request.reasons))
        case Deny():
            _record(call, request, "deny", by=answer.by, reason=answer.reason)
            call.session.refused[request.resolved.digest] = (answer.by, answer.reason)
            why = f": {answer.reason}" if answer.reason else ""
            raise call.refuse("approval", f"{answer.by} said no{why}")
        case Expired():
            _record(call, request, "expired", reason=answer.reason)
            raise call.refuse("approval", f"nobody said yes: {answer.reason}")


def _approved(call: Call, request: ApprovalRequest, answer: Approve) -> str:
    if answer.grant == "rule" and (answer.rule is None or answer.rule not in request.rules):
        reason = f"{answer.by} granted a rule that was not shown ({cut(str(answer.rule), 200)!r}); ask again"
        _record(call, request, "error", by=answer.by, reason=reason)
        raise call.refuse("approval", reason)
    grant = None if answer.grant == "once" else _grant(call, request, answer)
    _record(call, request, "approve", by=answer.by, grant=grant.id if grant else None, rule=answer.rule)
    if grant is not None:
        call.opening.grants.add(grant)
    by = f"approval: {answer.by}"
    call.decided("allow", by, f"{answer.by} said yes to exactly this")
    return by


def _grant(call: Call, request: ApprovalRequest, answer: Approve) -> Grant:
    now = datetime.now(UTC)
    by_rule = answer.grant == "rule"
    return Grant(
        id=f"grant-{uuid.uuid4().hex}",
        owner=call.session.owner,
        principal=call.opening.access.principal,
        tool=request.resolved.tool,
        descriptor=request.resolved.descriptor,
        digest=None if by_rule else request.resolved.digest,
        rule=answer.rule if by_rule else None,
        reach="turn" if answer.grant == "turn" else "session",
        turn=call.opening.turn if answer.grant == "turn" else None,
        expires=None if answer.expires is None else now + timedelta(seconds=answer.expires),
        given_by=answer.by,
        given_at=now,
    )


def _record(
    call: Call,
    request: ApprovalRequest,
    kind: str,
    *,
    by: str = "",
    reason: str = "",
    grant: str | None = None,
    rule: str | None = None,
    arguments: JsonValue = None,
    late: bool = False,
) -> None:
    call.pending.append(
        ApprovalAnswered.trusted(
            call=call.id,
            approval=request.approval,
            digest=request.resolved.digest,
            answer=kind,
            by=by,
            reason=reason,
            grant=grant,
            rule=rule,
            arguments=arguments,
            late=late,
        )
    )
