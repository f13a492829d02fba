"""Who uses which capability and who provides it, as a graph: of a deployment, or of everything that is installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from seam.host._deployment import Location, Row
from seam.host._inventory import Inventory, Provider, RowError
from seam.host._loading import NotAPlugin, load
from seam.host._outcomes import RowProblem
from seam.host._plan import HOST_KEYS, Plan, PlannedRow
from seam.kernel import Value

NodeKind = Literal["consumer", "door", "key", "implementer", "host"]
NodeState = Literal["ready", "pending", "missing", "failed", "invalid", "left out", "absent"]
EdgeKind = Literal["requires", "uses", "provided by"]


class Node(Value):
    """One box.

    Attributes:
        id: unique in the graph.
        label: what it is called.
        detail: the distribution, or the agent whose realm it belongs to.
        state: as in a plan; a key is `missing` when something requires it and nothing provides it, `absent` when it is only
            optional for those who would use it.
    """

    id: str
    kind: NodeKind
    label: str
    detail: str = ""
    state: NodeState = "ready"


class Edge(Value):
    """One arrow, in the direction of a call: from a user to a key (`requires`; `uses` where it is optional), from a key to its provider."""

    start: str
    end: str
    kind: EdgeKind


class Graph(Value):
    """The whole picture.

    Attributes:
        title: what it is a picture of.
        missing: what is missing or broken, each with its remedy.
    """

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    missing: tuple[RowProblem, ...] = ()


def deployment_graph(plan: Plan) -> Graph:
    """The graph of a plan."""
    missing = [problem for row in plan.rows for problem in row.problems]
    missing += [RowProblem(row="(deployment)", text=text, kind="missing") for text in plan.problems]
    return _graph(str(plan.path), plan.rows, missing, ())


def installed_graph(inventory: Inventory) -> Graph:
    """The graph of everything that is installed; plugins are imported, and those that cannot be are named."""
    rows: list[PlannedRow] = []
    problems: list[RowProblem] = []
    for group in inventory.groups():
        if group != "seam.definition":
            for provider in inventory.providers(group):
                row, found = _installed_row(inventory, group, provider)
                rows.append(row)
                problems += found
    keys = inventory.keys()
    provided = {key for row in rows for key in row.provides} | HOST_KEYS
    problems += [
        RowProblem(
            row=f"implement.{key}",
            key=key,
            text=f"{provider} defines {key!r}, and nothing installed implements it",
            kind="missing",
        )
        for key, provider in keys.items()
        if key not in provided
    ]
    return _graph("everything that is installed", rows, problems, keys)


def _installed_row(
    inventory: Inventory, group: str, provider: Provider
) -> tuple[PlannedRow, tuple[RowProblem, ...]]:
    key = group.removeprefix("seam.implementer.") if group.startswith("seam.implementer.") else None
    name, section = (key, "implement") if key is not None else (provider.entry.name, "consume")
    row = Row(
        section="implement" if section == "implement" else "consume",
        table=f"{section}.{name}",
        name=name,
        use=provider.entry.name,
        distribution=provider.distribution,
        where=Location(file=Path(provider.distribution)),
    )
    shown = PlannedRow(
        table=row.table,
        agent=None,
        use=row.use,
        state="ready",
        distribution=provider.distribution,
        version=provider.version,
        provides=() if key is None else (key,),
    )
    try:
        plugin = load(row, inventory.resolve(row))
    except NotAPlugin:
        return shown, ()  # used from code: it is there, and what it requires is not declared
    except RowError as error:
        problem = error.problem
        state = problem.kind if problem.kind in ("missing", "failed") else "invalid"
        return shown.model_copy(update={"state": state, "problems": (problem,)}), (problem,)
    return shown.model_copy(
        update={
            "requires": tuple(service.service_key for service in plugin.requires),
            "optional": tuple(service.service_key for service in plugin.optional),
            "provides": tuple(service.service_key for service in plugin.provides),
        }
    ), ()


def _graph(
    title: str, rows: Sequence[PlannedRow], missing: Iterable[RowProblem], known: Iterable[str]
) -> Graph:
    provided = {key for row in rows for key in row.provides} | HOST_KEYS
    required = {key for row in rows for key in row.requires}
    wanted = required | {key for row in rows for key in row.optional}
    nodes: list[Node] = [_row_node(row, index) for index, row in enumerate(rows)]
    edges: list[Edge] = []
    for index, row in enumerate(rows):
        edges += [Edge(start=_id(index), end=f"key:{key}", kind="requires") for key in row.requires]
        edges += [Edge(start=_id(index), end=f"key:{key}", kind="uses") for key in row.optional]
        edges += [Edge(start=f"key:{key}", end=_id(index), kind="provided by") for key in row.provides]
    served = {key for row in rows for key in row.provides}
    for key in sorted(served | wanted | set(known)):
        state: NodeState = "ready" if key in provided else "missing" if key in required else "absent"
        nodes.append(Node(id=f"key:{key}", kind="key", label=key, state=state))
    hosted = sorted(HOST_KEYS & (wanted | set(known)))
    if hosted:
        nodes.append(Node(id="host", kind="host", label="the host", detail="seam-host"))
        edges += [Edge(start=f"key:{key}", end="host", kind="provided by") for key in hosted]
    return Graph(title=title, nodes=tuple(nodes), edges=tuple(edges), missing=tuple(missing))


def _row_node(row: PlannedRow, index: int) -> Node:
    parts = [] if row.distribution is None else [f"{row.distribution} {row.version}"]
    if row.agent is not None:
        parts.append(f"for {row.agent} alone")
    above, _, name = row.table.rpartition(".")
    kind: NodeKind = "implementer"
    if above == "consume":
        kind = "consumer"
    if above == "process.serve" or "turns" in row.requires:
        kind = "door"
    label = name if kind != "implementer" else row.use
    if kind != "implementer" and row.use != name:
        label = f"{name} ({row.use})"
    return Node(id=_id(index), kind=kind, label=label, detail=", ".join(parts), state=row.state)


def _id(index: int) -> str:
    return f"row:{index}"
