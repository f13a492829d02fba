"""What policy says about a resolved call: every verdict is collected before anybody is asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from seam.tools_def import CallInfo, Decision, Effects, ResolvedCall, Widen, before_call
from seam.tools_runtime._bound_tool import BoundTool
from seam.tools_runtime._call import Call

_VERBS = {"writes": "writes", "executes": "runs programs", "network": "uses the network"}


@dataclass
class Verdicts:
    """All that was said.

    Attributes:
        denies: who and why.
        reasons: why somebody must be asked, each once, in order.
        rules: what a person may grant for the session instead.
        allowed_by: who waives `on-risk`, or None.
        unspoken: whether permissions has no rule for the call; then it may offer some.
    """

    denies: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    reasons: list[str] = field(default_factory=list[str])
    rules: list[str] = field(default_factory=list[str])
    allowed_by: str | None = None
    unspoken: bool = False

    def take(self, call: Call, by: str, decision: Decision) -> None:
        """Add one decision, to the record too."""
        call.decided(decision.verdict, f"{by}: {decision.rule}" if decision.rule else by, decision.reason)
        match decision.verdict:
            case "deny":
                self.denies.append((by, decision.reason))
            case "ask":
                _add(self.reasons, decision.reason)
            case "allow":
                self.allowed_by = self.allowed_by or (f"{by}: {decision.rule}" if decision.rule else by)
        for rule in decision.grants:
            _add(self.rules, rule)

    def deny(self, call: Call, by: str, reason: str) -> None:
        """A denial for a reason of the chain's own."""
        self.take(call, by, Decision(verdict="deny", reason=reason))


def _add(items: list[str], item: str) -> None:
    if item not in items:
        items.append(item)


async def judge(call: Call, tool: BoundTool, resolved: ResolvedCall, info: CallInfo) -> Verdicts:
    """Ask hooks and permissions; nothing here ends the asking early, so that an ask never hides a deny."""
    verdicts = Verdicts()
    await _hooks(call, info, verdicts)
    await _permissions(call, resolved, verdicts)
    _remembered(call, resolved, verdicts)
    _need(call, tool, resolved, verdicts)
    return verdicts


async def _hooks(call: Call, info: CallInfo, verdicts: Verdicts) -> None:
    try:
        answers = await call.opening.emitter.decide(before_call, info)
    except Exception as error:  # a policy that raises means refused
        verdicts.deny(call, "before_call", f"the hooks could not be asked: {type(error).__name__}: {error}")
        return
    for answer in answers:
        if answer.error is None and answer.value is None:
            continue
        by = f"hook {answer.plugin}"
        if answer.error is not None:
            error = answer.error
            verdicts.deny(call, by, f"the hook raised {type(error).__name__}: {error}")
        elif isinstance(answer.value, Decision):
            verdicts.take(call, by, answer.value)
        elif answer.value is not None:
            verdicts.deny(call, by, f"the hook answered with a {type(answer.value).__name__}, not a Decision")


async def _permissions(call: Call, resolved: ResolvedCall, verdicts: Verdicts) -> None:
    permissions = call.opening.permissions
    if permissions is None:
        return
    try:
        decision: object = await permissions.decide(resolved, call.opening.agent, call.opening.access)
    except Exception as error:  # a policy that raises means refused
        verdicts.deny(call, "permissions", f"the policy raised {type(error).__name__}: {error}")
        return
    if isinstance(decision, Decision):
        verdicts.take(call, "permissions", decision)
    elif decision is None:
        verdicts.unspoken = True
    else:
        verdicts.deny(
            call, "permissions", f"the policy answered with a {type(decision).__name__}, not a Decision"
        )


def _remembered(call: Call, resolved: ResolvedCall, verdicts: Verdicts) -> None:
    if not call.session.refused:
        return
    said = call.session.refused.get(resolved.digest)
    if said is not None:
        by, reason = said
        verdicts.deny(
            call, "approval", f"{by} has said no to exactly this in this turn{reason and ': '}{reason}"
        )


def _need(call: Call, tool: BoundTool, resolved: ResolvedCall, verdicts: Verdicts) -> None:
    declared = tool.descriptor.requires_approval
    widening = [action for action in resolved.actions if isinstance(action, Widen)]
    if declared == "always":
        _add(verdicts.reasons, f"{tool.descriptor.name} always needs an approval")
    if verdicts.allowed_by is None:
        if declared != "never" and resolved.effects.risky:
            _add(verdicts.reasons, f"{tool.descriptor.name} {_risk(resolved.effects)}")
        for action in widening:
            _add(verdicts.reasons, f"it asks for the wider mode {action.mode}: {action.why}")
    if not verdicts.reasons and not verdicts.denies and verdicts.allowed_by is None:
        harmless = "needs no approval" if declared == "never" else "has no effect that has to be asked about"
        verdicts.allowed_by = "effects"
        call.decided("allow", "effects", f"{tool.descriptor.name} {harmless}")


def _risk(effects: Effects) -> str:
    if not effects.known:
        return "has effects that are not known"
    return " and ".join(verb for kind, verb in _VERBS.items() if kind in effects.kinds)
