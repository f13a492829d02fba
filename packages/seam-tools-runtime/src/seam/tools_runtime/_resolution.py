"""What would happen: the tool's own first step, completed and capped."""

from __future__ import annotations

import math
from typing import cast

from seam.tools_def import (
    Effects,
    Failed,
    NotSerialisable,
    Resolution,
    ResolvedCall,
    canonical_json,
    frozen_json,
)
from seam.tools_runtime._bound_tool import BoundTool, Validated
from seam.tools_runtime._call import Call, Ending
from seam.tools_runtime._problems import cut
from seam.tools_runtime._results import outcome_of_error

_PLAIN = Resolution()


async def resolve(call: Call, tool: BoundTool, validated: Validated) -> ResolvedCall:
    """Raises `Ending` where the tool refuses, fails or answers with something else."""
    resolution = _PLAIN
    if tool.resolves:
        try:
            answer = cast(object, await tool.resolve(validated, call.context))
        except Exception as error:  # a tool's error is an outcome, whatever it is
            raise Ending(outcome_of_error(error)) from error
        if not isinstance(answer, Resolution):
            raise Ending(_invalid(f"`resolve` answered with a {type(answer).__name__}, not a Resolution"))
        resolution = answer
    try:
        return _completed(call, tool, validated, resolution)
    except (NotSerialisable, ValueError) as problem:
        raise Ending(_invalid(str(problem))) from problem


def _completed(call: Call, tool: BoundTool, validated: Validated, resolution: Resolution) -> ResolvedCall:
    descriptor = tool.descriptor
    return ResolvedCall.trusted(
        tool=descriptor.name,
        descriptor=descriptor.digest,
        arguments=frozen_json(validated.arguments),
        subject=frozen_json(resolution.subject),
        effects=_effects(descriptor.effects, resolution.effects),
        actions=resolution.actions,
        deadline=_deadline(call, tool, resolution),
        summary=resolution.summary or _summary(call, tool, validated),
        plan=validated.plan if resolution.plan is None else resolution.plan,
    )


def _effects(of_tool: Effects, of_call: Effects | None) -> Effects:
    if of_call is None:
        return of_tool
    if of_tool.known and (not of_call.known or not of_call.kinds <= of_tool.kinds):
        extra = sorted(of_call.kinds - of_tool.kinds) or ["unknown ones"]
        raise ValueError(f"`resolve` states effects that the tool does not declare: {', '.join(extra)}")
    return of_call


def _deadline(call: Call, tool: BoundTool, resolution: Resolution) -> float:
    caps = [seconds for seconds in (tool.descriptor.deadline, tool.provider_deadline) if seconds is not None]
    wanted = resolution.deadline
    if wanted is None:
        return min(caps, default=call.session.config.deadline)
    if not wanted > 0 or math.isinf(wanted):
        raise ValueError(f"`resolve` states a deadline of {wanted} s")
    return min([wanted, *caps])


def _summary(call: Call, tool: BoundTool, validated: Validated) -> str:
    text = f"{tool.descriptor.name} {canonical_json(validated.arguments)}"
    return cut(text, call.session.config.summary_characters)


def _invalid(problem: str) -> Failed:
    return Failed(
        code="RESOLUTION_INVALID", message=f"the tool's resolution cannot be used: {problem}", retryable="no"
    )
