"""Layers laid over each other, key by key: the later one wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from seam.host._deployment import (
    AgentRow,
    Deployment,
    DeploymentProblem,
    Location,
    Row,
    Section,
    deployment_error,
)
from seam.host._layer import Layer
from seam.host._layer_shape import ROW_WORDS, RowTable, SeamTable
from seam.host._layers import absolute, read_layers

RowPath = tuple[str, ...]
"""`("implement", "exec")`, `("agents", "reviewer", "implement", "exec")`, `("process", "serve", "mcp")`."""

DEFAULTS = SeamTable(tools="tools", drain=30.0, prepare=60.0, stop=10.0, debounce=0.3)
"""What `[seam]` says where no layer says it; docs/deployments.md lists them."""


def read_deployment(path: str | Path) -> Deployment:
    """Read a deployment file and the layers that it extends. Nothing is imported or started.

    Raises:
        DeploymentError: with every problem found, each with file, line and path.
    """
    file = absolute(Path(path))
    layers, problems = read_layers(file)
    if problems:
        raise deployment_error(file, tuple(problems))
    merged = _Merged(file, layers)
    deployment = merged.deployment()
    if merged.problems:
        raise deployment_error(file, tuple(merged.problems))
    return deployment


@dataclass
class _Draft:
    """A row while layers are laid over each other."""

    where: Location
    values: dict[str, object] = field(default_factory=dict[str, object])
    places: dict[str, Location] = field(default_factory=dict[str, Location])

    def over(self, later: _Draft) -> _Draft:
        kept = {key: place for key, place in self.places.items() if key.split(".")[0] not in later.values}
        return _Draft(later.where, {**self.values, **later.values}, {**kept, **later.places})

    @property
    def enabled(self) -> bool:
        return self.values.get("enabled") is not False


class _Merged:
    def __init__(self, file: Path, layers: Sequence[Layer]) -> None:
        self.problems: list[DeploymentProblem] = []
        self._file = file
        self._layers = layers
        self._drafts: dict[RowPath, _Draft] = {}
        for layer in layers:
            for path, table in _tables(layer):
                draft = _draft(layer, path, table)
                known = self._drafts.get(path)
                self._drafts[path] = draft if known is None else known.over(draft)

    def deployment(self) -> Deployment:
        if not self._drafts:
            self._problem(
                Location(file=self._file), "declares no rows", "write a first deployment with `seam init`"
            )
        agents = tuple(self._agent(name) for name in self._agent_names())
        if not agents:
            self._problem(
                Location(file=self._file),
                "declares no agent, so nobody can open a turn",
                'add [agents.default] with workspace = "."',
            )
        tools, tools_layer = self._setting("tools")
        return Deployment(
            path=self._file,
            layers=tuple(layer.file for layer in self._layers),
            agents=agents,
            rows=(*self._rows("implement"), *self._rows("consume")),
            process=tuple(self._rows("process")),
            serve=tuple(self._rows("serve")),
            removed=tuple(".".join(path) for path, draft in self._drafts.items() if not draft.enabled),
            mixed=_text(self._setting("mixed")[0]),
            tools=(tools_layer.parent / str(tools)),
            drain=self._seconds("drain"),
            prepare=self._seconds("prepare"),
            stop=self._seconds("stop"),
            debounce=self._seconds("debounce"),
        )

    def _setting(self, name: str) -> tuple[object, Path]:
        for layer in reversed(self._layers):
            value: object = getattr(layer.content.seam, name)
            if value is not None:
                return value, layer.file
        return getattr(DEFAULTS, name), self._file

    def _seconds(self, name: str) -> float:
        value, _ = self._setting(name)
        assert isinstance(value, (int, float))  # validated as a Duration, and each has a default
        return float(value)

    def _rows(self, section: Section) -> Iterator[Row]:
        for path, draft in self._drafts.items():
            if _section(path) == section and draft.enabled:
                row = self._row(section, path, draft, None)
                if row is not None:
                    yield row

    def _row(self, section: Section, path: RowPath, draft: _Draft, agent: str | None) -> Row | None:
        table, use = ".".join(path), draft.values.get("use")
        if use is None and section in ("implement", "process"):
            self._problem(
                draft.where,
                "names no implementer",
                f'add use = "..." to [{table}]; `seam plan` lists what is installed for {path[-1]!r}',
            )
            return None
        return Row(
            section=section,
            table=table,
            name=path[-1],
            agent=agent,
            use=str(use) if use is not None else path[-1],
            distribution=_text(draft.values.get("distribution")),
            optional=draft.values.get("optional") is True,
            config={key: value for key, value in draft.values.items() if key not in ROW_WORDS},
            where=draft.where,
            places=draft.places,
        )

    def _agent_names(self) -> list[str]:
        return list(dict.fromkeys(name for layer in self._layers for name in layer.content.agents))

    def _agent(self, name: str) -> AgentRow:
        workspace, call_hidden = "", list[str]()
        where = Location(file=self._file)
        for layer in self._layers:
            table = layer.content.agents.get(name)
            if table is None:
                continue
            where = layer.where("agents", name)
            if table.workspace is not None:
                workspace = self._workspace(layer, name, table.workspace)
            if table.call_hidden is not None:
                call_hidden = table.call_hidden
        if not workspace:
            self._problem(where, "has no workspace", 'add workspace = "." (a path of the world)')
        if name == "global":
            self._problem(where, "'global' means all agents together; give the agent another name", "")
        return AgentRow(
            name=name,
            workspace=workspace,
            call_hidden=tuple(call_hidden),
            realm=self._realm(name),
            where=where,
        )

    def _workspace(self, layer: Layer, agent: str, given: str) -> str:
        if given.startswith("~"):
            where = layer.where("agents", agent, "workspace")
            self._problem(where, f"{given!r}: `~` means nothing in another world", "write the path out")
        return str(layer.file.parent / given)

    def _realm(self, agent: str) -> tuple[Row, ...]:
        rows: list[Row] = []
        for path, draft in self._drafts.items():
            if path[:2] != ("agents", agent) or not draft.enabled:
                continue
            shared = self._drafts.get(("implement", path[-1]))
            whole = draft if shared is None or not shared.enabled else shared.over(draft)
            row = self._row("implement", path, whole, agent)
            if row is not None:
                rows.append(row)
        return tuple(rows)

    def _problem(self, where: Location, text: str, remedy: str) -> None:
        self.problems.append(DeploymentProblem(where=where, text=text, remedy=remedy))


def _tables(layer: Layer) -> Iterator[tuple[RowPath, RowTable]]:
    content = layer.content
    tables: Mapping[RowPath, Mapping[str, RowTable]] = {
        ("implement",): content.implement,
        ("consume",): content.consume,
        ("process",): content.process.rows,
        ("process", "serve"): content.process.serve,
        **{("agents", name, "implement"): agent.implement for name, agent in content.agents.items()},
    }
    for above, rows in tables.items():
        for name, table in rows.items():
            yield (*above, name), table


def _draft(layer: Layer, path: RowPath, table: RowTable) -> _Draft:
    values: dict[str, object] = {
        word: value for word in ROW_WORDS if (value := getattr(table, word)) is not None
    } | (table.model_extra or {})
    keys = [inner[len(path) :] for inner in layer.lines if inner[: len(path)] == path and inner != path]
    return _Draft(layer.where(*path), values, {".".join(key): layer.where(*path, *key) for key in keys})


def _section(path: RowPath) -> Section | None:
    if path[0] == "implement":
        return "implement"
    if path[0] == "consume":
        return "consume"
    if path[0] == "process":
        return "serve" if len(path) == 3 else "process"
    return None


def _text(value: object) -> str | None:
    return None if value is None else str(value)
