"""A deployment file as facts: which row asks for which provider. Layers are merged key by key, later wins."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from seam.deplint.facts import Place, Problem, canonical
from seam.deplint.sources._manifest import read_toml
from seam.deplint.sources._table import Table, TableError


@dataclass(slots=True)
class Row:
    """One row, all layers merged. `key` is empty for a consumer or a door."""

    table: str
    key: str
    use: str
    distribution: str
    optional: bool
    place: Place


@dataclass(slots=True)
class Deployment:
    """The rows of a deployment and what kept a layer from being read."""

    path: str
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    problems: list[Problem] = field(default_factory=list[Problem])


def read_deployment(path: Path) -> Deployment:
    """Read a deployment file with the layers it extends. A broken layer is named, the others are read."""
    found = Deployment(os.path.relpath(path))
    _Layers(found).visit(path, ())
    return found


class _Layers:
    def __init__(self, found: Deployment) -> None:
        self._found = found
        self._seen: set[Path] = set()

    def visit(self, path: Path, above: tuple[Path, ...]) -> None:
        real = path.resolve()
        shown = os.path.relpath(path)
        if real in above:
            self._problem(
                shown,
                f"the layers extend each other in a circle ({' -> '.join(p.name for p in (*above, real))})",
            )
            return
        if real in self._seen:
            return
        self._seen.add(real)
        try:
            root = read_toml(path)
            for base in root.table("seam").texts("extends"):
                self.visit(path.parent / base, (*above, real))
            self._rows(root, shown, path.read_text("utf-8"))
        except TableError as problem:
            self._problem(shown, str(problem))

    def _problem(self, shown: str, text: str) -> None:
        self._found.problems.append(Problem("deployment-broken", text, Place(shown), text))

    def _rows(self, root: Table, shown: str, text: str) -> None:
        for name in root.table("implement"):
            self._row(root.table("implement").table(name), name, shown, text)
        for name in root.table("consume"):
            self._row(root.table("consume").table(name), "", shown, text, name)
        process = root.table("process")
        for name in process:
            if name != "serve":
                self._row(process.table(name), name, shown, text)
        for name in process.table("serve"):
            self._row(process.table("serve").table(name), "", shown, text, name)
        agents = root.table("agents")
        for agent in agents:
            realm = agents.table(agent).table("implement")
            for name in realm:
                self._row(realm.table(name), name, shown, text)

    def _row(self, row: Table, key: str, shown: str, text: str, name: str = "") -> None:
        place = Place(shown, _line(text, row.location))
        if not row.flag("enabled", True):
            self._found.rows.pop(row.location, None)
            return
        old = self._found.rows.get(row.location)
        use = row.text("use", old.use if old else self._inherited(row.location, key) or name)
        distribution = canonical(row.text("distribution", old.distribution if old else ""))
        optional = row.flag("optional", old.optional if old else False)
        self._found.rows[row.location] = Row(row.location, key, use, distribution, optional, place)

    def _inherited(self, location: str, key: str) -> str:
        """A realm's row stands on the deployment's row of the same key."""
        shared = self._found.rows.get(f"implement.{key}") if location.startswith("agents.") else None
        return shared.use if shared else ""


def _line(text: str, table: str) -> int:
    position = text.find(f"[{table}]")
    return text.count("\n", 0, position) + 1 if position >= 0 else 0
