"""Mixed confinement: a sandboxed executor beside tools that write without the same policy."""

from __future__ import annotations

from collections.abc import Mapping

from seam.exec_def import ShellExecutor
from seam.host._outcomes import RowProblem
from seam.host._slots import Slot
from seam.kernel import Instance, Scope
from seam.sandbox_def import SandboxPolicy
from seam.tools_def import Tool

POLICY = SandboxPolicy.service_key


def mixed_confinement(
    places: Mapping[str | None, Scope], slots: Mapping[Instance, Slot], mixed: str | None
) -> list[RowProblem]:
    """The rows that write outside the policy that confines `exec` beside them; none where the deployment says why."""
    if mixed:
        return []
    problems: list[RowProblem] = []
    for place in places.values():
        executor = place.get(ShellExecutor)
        if executor is None or not executor.facts.confines:
            continue
        for instance, slot in slots.items():
            if instance in place.instances and not _confined(instance) and _writes(place, instance):
                problems.append(_problem(slot))
    return problems


def _writes(place: Scope, instance: Instance) -> bool:
    return any(
        owner is instance and tool.effects.known and "writes" in tool.effects.kinds
        for owner, tool in place.contributions(Tool)
    )


def _confined(instance: Instance) -> bool:
    """Whether the instance reaches the sandbox policy through what it is bound to."""
    seen: set[str] = set()
    waiting = [instance]
    while waiting:
        current = waiting.pop()
        if POLICY in current.bindings:
            return True
        for bound in current.bindings.values():
            if bound.name not in seen:
                seen.add(bound.name)
                waiting.append(bound)
    return False


def _problem(slot: Slot) -> RowProblem:
    return RowProblem(
        row=slot.row.table,
        plugin=slot.row.plugin.name,
        text="its tools write files outside the policy that confines `exec` in the same deployment",
        remedy='confine it by the same policy, or say in [seam] why this is meant: mixed = "..."',
        kind="invalid",
    )
