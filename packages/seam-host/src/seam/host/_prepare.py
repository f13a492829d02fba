"""Build a whole candidate: every plugin active, every name unique, every schema valid. Or unwind it and say why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from seam.host._blueprint import Blueprint
from seam.host._confinement import mixed_confinement
from seam.host._generation import Contents, Generation
from seam.host._outcomes import PrepareFailed, ReloadOutcome, RollbackFailed, RowProblem
from seam.host._projection import projection
from seam.host._slots import Assembly, Slot, assemble
from seam.kernel import Fault, Instance, Problem, Scope, SeamError
from seam.tools_def import Catalogue, ProjectionRejected, Tools


@dataclass(frozen=True)
class PreparedCandidate:
    """A candidate to publish (`contents`), or the outcome that needs no publish."""

    contents: Contents | None
    outcome: ReloadOutcome


@dataclass
class _Building:
    """What a candidate has so far."""

    scope: Scope
    places: dict[str | None, Scope]
    slots: dict[Instance, Slot] = field(default_factory=dict[Instance, "Slot"])
    carried: list[str] = field(default_factory=list[str])
    rebuilt: list[str] = field(default_factory=list[str])
    left_out: list[RowProblem] = field(default_factory=list[RowProblem])
    gone: set[str] = field(default_factory=set[str])


class Preparer:
    """Prepares candidates of one host.

    Args:
        root: the process's scope; generations are children of it.
        process: identity by key of what the process provides.
        timeout: seconds in which every plugin must have come up.
    """

    def __init__(self, root: Scope, process: Mapping[str, str], *, timeout: float) -> None:
        self._root = root
        self._process = process
        self._timeout = timeout

    async def __call__(
        self, blueprint: Blueprint, published: Generation | None, number: int
    ) -> PreparedCandidate:
        """Prepare; see `GenerationControl.replace` for what happens to the answer.

        Raises:
            PrepareFailed: with every problem found; the candidate is unwound.
            RollbackFailed: it could not be unwound.
        """
        wanted = assemble(blueprint.base, blueprint.realms, self._process)
        if published is not None and _same(published, wanted, blueprint):
            return PreparedCandidate(None, ReloadOutcome(kind="unchanged", generation=published.number))
        scope = self._root.child(f"generation-{number}")
        try:
            building = await self._build(scope, wanted, published)
            contents = await self._complete(building, blueprint)
            if published is not None and _same(published, contents.assembly, blueprint):
                await _unwind(scope, None)
                return PreparedCandidate(None, ReloadOutcome(kind="unchanged", generation=published.number))
        except BaseException as error:
            await _unwind(scope, error)
            raise
        return PreparedCandidate(contents, _outcome(building, contents, published, number))

    async def _build(self, scope: Scope, wanted: Assembly, published: Generation | None) -> _Building:
        building = _Building(scope, {None: scope})
        for agent, keys in wanted.isolated.items():
            building.places[agent] = scope.child(agent, isolate=keys)
        problems = [
            problem for slot in wanted.slots if (problem := _list(building, slot, published)) is not None
        ]
        if problems:
            raise failed(problems)
        await self._settle(building)
        return building

    async def _settle(self, building: _Building) -> None:
        """Wait until everything is up; leave optional rows out that are not; fail for the others."""
        while True:
            with anyio.move_on_after(self._timeout) as waiting:
                await building.scope.settle()
            if waiting.cancelled_caught:
                raise failed(_unsettled(building, self._timeout))
            found = building.scope.problems()
            optional = [p for p in found if building.slots[_top(p.instance)].row.optional]
            if not optional:
                if found:
                    raise failed(
                        [_explain(problem, building.slots[_top(problem.instance)]) for problem in found]
                    )
                return
            for problem in optional:
                await _leave_out(building, problem)

    async def _complete(self, building: _Building, blueprint: Blueprint) -> Contents:
        tools = building.scope.get(Tools)
        if tools is None:
            raise failed([NO_TOOLS])
        problems = mixed_confinement(building.places, building.slots, blueprint.mixed)
        if problems:
            raise failed(problems)
        catalogue = await _project(tools, building, blueprint)
        building.left_out += [
            RowProblem(row=item.source, text=item.problem, kind="rejected") for item in catalogue.left_out
        ]
        building.scope.seal()
        base = [row for row in blueprint.base if row.table not in building.gone]
        realms = {
            agent: [row for row in rows if f"{agent}/{row.table}" not in building.gone]
            for agent, rows in blueprint.realms.items()
        }
        assembly = assemble(base, realms, self._process)
        by_name = {slot.name: instance for instance, slot in building.slots.items()}
        return Contents(
            assembly=assembly,
            scope=building.scope,
            realms={agent: scope for agent, scope in building.places.items() if agent is not None},
            agents={agent.name: agent for agent in blueprint.agents},
            catalogue=catalogue,
            tools=tools,
            instances={slot.identity: by_name[slot.name] for slot in assembly.slots if slot.name in by_name},
            carried=tuple(building.carried),
            rebuilt=tuple(building.rebuilt),
            left_out=(*blueprint.left_out, *building.left_out),
        )


NO_TOOLS = RowProblem(
    row="implement.tools",
    key="tools",
    text="nothing provides `tools`, so nothing can be called",
    remedy='add [implement.tools] with use = "runtime" (pip install seam-tools-runtime)',
    kind="missing",
)


def failed(problems: Sequence[RowProblem]) -> PrepareFailed:
    """The error for a candidate with problems."""
    text = "\n  ".join(str(problem) for problem in problems)
    return PrepareFailed(f"the deployment cannot be published:\n  {text}", problems=tuple(problems))


def _same(published: Generation, wanted: Assembly, blueprint: Blueprint) -> bool:
    contents = published.contents
    return contents.assembly.digest == wanted.digest and tuple(contents.agents.values()) == blueprint.agents


def _list(building: _Building, slot: Slot, published: Generation | None) -> RowProblem | None:
    """Carry an instance over, or load one; a problem that shows at once is answered."""
    place = building.places[slot.agent]
    before = published.contents.instances.get(slot.identity) if published is not None else None
    try:
        if before is not None and before.state == "active":
            place.adopt(before)
            building.slots[before] = slot
            building.carried.append(slot.name)
            return None
        row = slot.row
        instance = place.load(row.plugin, row.config, name=slot.name, distribution=row.distribution)
    except SeamError as error:
        problem = RowProblem(
            row=slot.row.table, plugin=slot.row.plugin.name, text=error.message, kind="invalid"
        )
        if not slot.row.optional:
            return problem
        building.left_out.append(problem)
        building.gone.add(slot.name)
        return None
    building.slots[instance] = slot
    building.rebuilt.append(slot.name)
    return None


def _top(instance: Instance) -> Instance:
    # what a row's plugin loaded itself belongs to the row
    while instance.parent is not None:
        instance = instance.parent
    return instance


def _explain(problem: Problem, slot: Slot) -> RowProblem:
    kind = "failed" if problem.kind == "failed" else "missing"
    remedy = (
        "; ".join(f"add an [implement.{key}] row" for key in problem.keys)
        if problem.kind == "missing"
        else ""
    )
    return RowProblem(
        row=slot.row.table,
        plugin=slot.row.plugin.name,
        key=problem.keys[0] if problem.keys else None,
        text=problem.text,
        remedy=remedy,
        kind=kind,
    )


def _unsettled(building: _Building, seconds: float) -> list[RowProblem]:
    text = f"did not come up within {seconds:g} s"
    return [
        RowProblem(row=slot.row.table, plugin=slot.row.plugin.name, text=text, kind="failed")
        for instance, slot in building.slots.items()
        if instance.state in ("starting", "stopping")
    ]


async def _leave_out(building: _Building, problem: Problem) -> None:
    instance = _top(problem.instance)
    slot = building.slots.pop(instance, None)
    if slot is None:
        return  # two problems of one row
    building.left_out.append(_explain(problem, slot))
    building.gone.add(slot.name)
    if slot.name in building.rebuilt:
        building.rebuilt.remove(slot.name)
    await instance.stop()


async def _project(tools: Tools, building: _Building, blueprint: Blueprint) -> Catalogue:
    request = projection(building.places, building.slots, blueprint.agents)
    try:
        return await tools.project(request)
    except ProjectionRejected as rejected:
        raise failed([RowProblem(row="(tools)", text=rejected.message, kind="rejected")]) from rejected


async def _unwind(scope: Scope, reason: BaseException | None) -> None:
    faults: tuple[Fault, ...] = ()
    with anyio.CancelScope(shield=True):
        faults = await scope.aclose()
    if faults:
        told = tuple(str(fault) for fault in faults)
        raise RollbackFailed(
            "a candidate could not be unwound cleanly: " + "; ".join(told), faults=told
        ) from reason


def _outcome(
    building: _Building, contents: Contents, published: Generation | None, number: int
) -> ReloadOutcome:
    before = (
        {slot.name for slot in published.contents.assembly.slots} if published is not None else set[str]()
    )
    now = {slot.name for slot in contents.assembly.slots}
    return ReloadOutcome(
        kind="published",
        generation=number,
        rebuilt=tuple(building.rebuilt),
        carried=tuple(building.carried),
        removed=tuple(sorted(before - now)),
        left_out=contents.left_out,
    )
