"""What lives as long as the process: the root scope with journal, gate and doors, above every generation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from pydantic import BaseModel

from seam.host._control import Note
from seam.host._doors import Doors
from seam.host._outcomes import RowProblem
from seam.host._prepare import failed
from seam.host._slots import RowPlugin, assemble
from seam.kernel import Context, Instance, NoConfig, Plugin, Scope
from seam.sandbox_def import NetworkDecision, network_decided
from seam.tools_def import TurnGate, door_closed


class ProcessRows:
    """The process rows of a deployment in the root scope."""

    def __init__(self, root: Scope) -> None:
        self._root = root
        self._instances: list[Instance] = []

    async def start(self, rows: Sequence[RowPlugin]) -> None:
        """Bring rows up.

        Raises:
            PrepareFailed: one is missing something or raised; those that came up stay for the caller to close.
        """
        loaded = [
            (row, self._root.load(row.plugin, row.config, name=row.table, distribution=row.distribution))
            for row in rows
        ]
        self._instances += [instance for _, instance in loaded]
        await self._root.settle()
        tables = {instance: row for row, instance in loaded}
        problems = [
            RowProblem(row=row.table, plugin=row.plugin.name, text=problem.text, kind="failed")
            for problem in self._root.problems()
            if (row := tables.get(problem.instance)) is not None
        ]
        if problems:
            raise failed(problems)

    async def stop_doors(self, doors: Sequence[RowPlugin]) -> list[str]:
        """Stop the doors, so that nothing new comes in; answers what failed on the way."""
        names = {row.table for row in doors}
        errors: list[str] = []
        for instance in [i for i in reversed(self._instances) if i.name in names]:
            errors += [str(fault) for fault in await instance.stop()]
        return errors


def process_identities(rows: Sequence[RowPlugin]) -> Mapping[str, str]:
    """Identity by key of what the process provides; a change of one needs a new process."""
    assembly = assemble(rows, {}, {})
    return {key: slot.identity for slot in assembly.slots for key in slot.row.provides}


def process_digest(rows: Sequence[RowPlugin]) -> str:
    """Two lists of process rows with one digest are the same."""
    return assemble(rows, {}, {}).digest


def gate_plugin(gate: TurnGate, doors: Doors, note: Note) -> Plugin[BaseModel]:
    """The host as the provider of `turns`, as the one whom doors tell that their other side is gone, and as the one who
    keeps a record of what confined commands reach on the network."""

    async def keep(decision: NetworkDecision) -> None:
        what = "permitted" if decision.permitted else "refused"
        target = f"{decision.host}:{decision.port}"
        where = f"{target} at {decision.address}" if decision.address else target
        await note(f"network.{what}", f"{where}: {decision.rule}", decision.model_dump(mode="json"))

    async def set_up(ctx: Context, config: BaseModel) -> AsyncIterator[None]:
        ctx.provide(TurnGate, gate)
        ctx.on(door_closed, doors.on_closed)
        ctx.on(network_decided, keep)
        yield

    return Plugin[BaseModel](
        name="turns",
        requires=(),
        optional=(),
        provides=(TurnGate,),
        config=NoConfig,
        set_up=set_up,
        module=__name__,
        doc="The host's gate.",
    )
