"""What would become of a deployment, without starting anything: who provides each row, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from seam.host._deployment import Deployment, Row
from seam.host._installed import InstalledProblem
from seam.host._inventory import Inventory, Provider, RowError, row_problem
from seam.host._loading import ConfigRefused, check_config, load, row_paths
from seam.host._outcomes import RowProblem
from seam.host._tool_files import tool_files
from seam.kernel import Plugin, Value

RowState = Literal["ready", "pending", "missing", "failed", "invalid", "left out"]

HOST_KEYS = frozenset({"turns"})
"""What the host itself provides."""

NEEDED: Mapping[str, str] = {
    "tools": 'nothing provides `tools`, so nothing can be called: add [implement.tools] with use = "..."',
    "journal": 'nothing provides `journal`, and nothing runs unrecorded: add [process.journal] with use = "..."',
}
"""Keys that a deployment cannot do without, and what to say where they are missing."""


class PlannedRow(Value):
    """One row, as far as it can be judged without starting it.

    Attributes:
        state: `ready`; `pending` (a key that it requires has no provider); `missing` (nothing installed provides the row);
            `failed` (its code cannot be imported); `invalid` (its configuration does not fit); `left out` (optional, and one of these).
        distribution: the provider's, and its version; None where there is none.
        requires, optional, provides: service keys; empty where the plugin could not be loaded.
        missing: the required keys that nothing provides.
        problems: why it is not ready.
    """

    table: str
    agent: str | None
    use: str
    state: RowState
    distribution: str | None = None
    version: str | None = None
    requires: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    problems: tuple[RowProblem, ...] = ()


class Plan(Value):
    """What would become of a deployment.

    Attributes:
        rows: those of the process, for everybody, of realms, and the doors.
        removed: tables with `enabled = false`.
        tool_files: files and folders under `tools/`; they are not executed here, so what they offer is not judged.
        problems: what is wrong with the deployment as a whole.
        installed: broken or doubled metadata of installed distributions.
        complete: whether every row that is not optional is ready, and nothing is wrong as a whole.
    """

    path: Path
    layers: tuple[Path, ...]
    agents: Mapping[str, str]
    rows: tuple[PlannedRow, ...]
    removed: tuple[str, ...]
    tool_files: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    installed: tuple[InstalledProblem, ...] = ()
    complete: bool


@dataclass
class _Draft:
    row: Row
    provider: Provider | None = None
    plugin: Plugin[BaseModel] | None = None
    state: RowState = "pending"
    problems: list[RowProblem] = field(default_factory=list[RowProblem])
    missing: tuple[str, ...] = ()

    @property
    def requires(self) -> tuple[str, ...]:
        return () if self.plugin is None else tuple(item.service_key for item in self.plugin.requires)

    @property
    def optional(self) -> tuple[str, ...]:
        return () if self.plugin is None else tuple(item.service_key for item in self.plugin.optional)

    @property
    def provides(self) -> tuple[str, ...]:
        return () if self.plugin is None else tuple(item.service_key for item in self.plugin.provides)


def make_plan(deployment: Deployment, inventory: Inventory) -> Plan:
    """Judge every row of a deployment. Imports the plugins that it names; starts nothing and raises nothing about a row."""
    drafts = [_draft(row, inventory) for row in deployment.every_row]
    process = [draft for draft in drafts if draft.row.section == "process"]
    everybody = [draft for draft in drafts if draft.row.agent is None and draft.row in deployment.rows]
    doubled = _doubled([*process, *everybody])
    # what lives as long as the process, doors included, cannot stand on what a reload exchanges
    below = _settle(process, HOST_KEYS, inventory, everybody)
    _settle([draft for draft in drafts if draft.row.section == "serve"], below, inventory, everybody)
    there = _settle(everybody, below, inventory)
    for agent in deployment.agents:
        _settle([draft for draft in drafts if draft.row.agent == agent.name], there, inventory)
    for draft in drafts:
        if draft.state != "ready" and draft.row.optional:
            draft.state = "left out"
    problems = [*doubled, *(text for key, text in NEEDED.items() if key not in there)]
    return Plan(
        path=deployment.path,
        layers=deployment.layers,
        agents={agent.name: agent.workspace for agent in deployment.agents},
        rows=tuple(_planned(draft) for draft in drafts),
        removed=deployment.removed,
        tool_files=tuple(str(entry.path) for entry in tool_files(deployment.tools)),
        problems=tuple(problems),
        installed=inventory.problems,
        complete=not problems and all(draft.state in ("ready", "left out") for draft in drafts),
    )


def _draft(row: Row, inventory: Inventory) -> _Draft:
    draft = _Draft(row)
    try:
        draft.provider = inventory.resolve(row)
        draft.plugin = load(row, draft.provider)
        paths = {name: str(path) for name, path in row_paths(row, draft.plugin).items()}
        check_config(row, draft.plugin, {**row.config, **paths})
    except ConfigRefused as error:
        draft.problems, draft.state = list(error.problems), "invalid"
    except RowError as error:
        kind = error.problem.kind
        draft.problems = [error.problem]
        draft.state = kind if kind in ("missing", "failed") else "invalid"
    return draft


def _doubled(drafts: Sequence[_Draft]) -> list[str]:
    first: dict[str, str] = {}
    found: list[str] = []
    for draft in drafts:
        for key in draft.provides:
            if key in first:
                found.append(f"{key!r} is provided by [{first[key]}] and by [{draft.row.table}]; keep one")
            first.setdefault(key, draft.row.table)
    return found


def _settle(
    drafts: Sequence[_Draft],
    above: Iterable[str],
    inventory: Inventory,
    out_of_reach: Sequence[_Draft] = (),
) -> frozenset[str]:
    """Mark what can start as ready; answer the keys that are there then. What is `out_of_reach` lives shorter than these."""
    there = set(above)
    waiting = [draft for draft in drafts if draft.state == "pending"]
    while True:
        startable = [draft for draft in waiting if there.issuperset(draft.requires)]
        if not startable:
            break
        for draft in startable:
            draft.state = "ready"
            there.update(draft.provides)
        waiting = [draft for draft in waiting if draft not in startable]
    for draft in waiting:
        draft.missing = tuple(key for key in draft.requires if key not in there)
        draft.problems = [_wait(draft, key, drafts, inventory, out_of_reach) for key in draft.missing]
    return frozenset(there)


def _wait(
    draft: _Draft, key: str, drafts: Sequence[_Draft], inventory: Inventory, out_of_reach: Sequence[_Draft]
) -> RowProblem:
    return _pending(draft, key, drafts, inventory, out_of_reach).model_copy(update={"key": key})


def _pending(
    draft: _Draft, key: str, drafts: Sequence[_Draft], inventory: Inventory, out_of_reach: Sequence[_Draft]
) -> RowProblem:
    other = next((found for found in drafts if found.row.key == key or key in found.provides), None)
    if other is not None:
        text = f"needs {key!r}, and [{other.row.table}] is {other.state} itself"
        return row_problem(draft.row, text, "", "missing")
    shorter = next((found for found in out_of_reach if key in found.provides), None)
    if shorter is not None:
        text = f"lives as long as the process and needs {key!r}, but [{shorter.row.table}] is exchanged by a reload"
        return row_problem(draft.row, text, f"choose it under [process.{key}]", "missing")
    offered = inventory.providers(f"seam.implementer.{key}")
    listed = " or ".join(f'use = "{provider.entry.name}" ({provider})' for provider in offered)
    table = "process" if key == "journal" else "implement"
    remedy = (
        f"add [{table}.{key}] with {listed}"
        if offered
        else (f"add [{table}.{key}], and install a distribution that implements it; nothing installed does")
    )
    return row_problem(draft.row, f"needs {key!r}, and no row provides it", remedy, "missing")


def _planned(draft: _Draft) -> PlannedRow:
    return PlannedRow(
        table=draft.row.table,
        agent=draft.row.agent,
        use=draft.row.use,
        state=draft.state,
        distribution=None if draft.provider is None else draft.provider.distribution,
        version=None if draft.provider is None else draft.provider.version,
        requires=draft.requires,
        optional=draft.optional,
        provides=draft.provides,
        missing=draft.missing,
        problems=tuple(draft.problems),
    )
