"""A pyproject.toml as facts: requirements of every kind, entry points, the words of `[tool.seam]`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from seam.deplint.facts import EntryPoint, Place, Problem, Requirement, Section, canonical
from seam.deplint.sources._requirements import parse_requirement
from seam.deplint.sources._table import Table, TableError


@dataclass(slots=True)
class Manifest:
    """What one pyproject.toml says; `packed` is what the build backend ships, where it says so."""

    name: str = ""
    version: str = ""
    requirements: list[Requirement] = field(default_factory=list[Requirement])
    extras: set[str] = field(default_factory=set[str])
    entry_points: list[EntryPoint] = field(default_factory=list[EntryPoint])
    dynamic: frozenset[str] = frozenset()
    version_file: str = ""
    folded: str | None = None
    extends: tuple[str, ...] = ()
    packed: tuple[str, ...] = ()
    packed_roots: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list[Problem])


def read_toml(path: Path) -> Table:
    """Parse a TOML file; raises `TableError` with the reason where it cannot be read."""
    try:
        return Table(tomllib.loads(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as problem:
        raise TableError(f"cannot be read: {problem}") from problem


def read_manifest(text: str, shown: str) -> Manifest | None:
    """The facts of a manifest, or None where it has no `[project]` and so is no distribution."""
    found = Manifest()
    try:
        root = Table(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        found.problems.append(Problem("manifest-broken", f"is not TOML: {problem}", Place(shown)))
        found.dynamic = frozenset(
            {"dependencies", "optional-dependencies", "entry-points"}
        )  # unknown, not absent
        return found
    if "project" not in root:
        return None
    reader = _ManifestReader(text, shown, found)
    for step in (reader.project, reader.groups, reader.build, reader.tools):
        try:
            step(root)
        except TableError as problem:
            found.problems.append(Problem("manifest-broken", str(problem), Place(shown), str(problem)))
    return found


class _ManifestReader:
    def __init__(self, text: str, shown: str, found: Manifest) -> None:
        self._text = text
        self._shown = shown
        self._found = found

    def project(self, root: Table) -> None:
        project = root.table("project")
        self._found.name = canonical(project.text("name"))
        self._found.version = project.text("version")
        self._found.dynamic = frozenset(project.texts("dynamic"))
        if not self._found.name:
            raise TableError("project.name is missing: a distribution needs a name")
        self._requirements(project, "dependencies", Section.RUN, "", "dependencies")
        extras = project.table("optional-dependencies")
        for extra in extras:
            self._found.extras.add(canonical(extra))
            self._requirements(extras, extra, Section.EXTRA, canonical(extra), extra)
        for word, group in (("scripts", "console_scripts"), ("gui-scripts", "gui_scripts")):
            self._entry_points(project.table(word), group)
        groups = project.table("entry-points")
        for group in groups:
            self._entry_points(groups.table(group), group)

    def groups(self, root: Table) -> None:
        groups = root.table("dependency-groups")
        for group in groups:
            if groups.is_texts(group):
                self._mixed_group(groups, group)

    def build(self, root: Table) -> None:
        if "build-system" in root:
            self._requirements(root.table("build-system"), "requires", Section.BUILD, "", "requires")

    def tools(self, root: Table) -> None:
        tool = root.table("tool")
        seam = tool.table("seam")
        self._found.folded = seam.text("folded") if "folded" in seam else None
        self._found.extends = tuple(canonical(name) for name in seam.texts("extends"))
        hatch = tool.table("hatch")
        self._found.version_file = hatch.table("version").text("path")
        build = hatch.table("build")
        wheel = build.table("targets").table("wheel")
        self._found.packed = wheel.texts("packages") or build.texts("packages")
        if "setuptools" in tool and not tool.table("setuptools").is_texts("packages"):
            self._found.packed_roots = tool.table("setuptools").table("packages").table("find").texts("where")

    def _mixed_group(self, groups: Table, group: str) -> None:
        for text in groups.array(group):
            if isinstance(text, str):  # `{include-group = "..."}` is a table among the texts (PEP 735)
                self._add(text, Section.GROUP, group, "[dependency-groups]")

    def _requirements(self, table: Table, key: str, section: Section, name: str, heading: str) -> None:
        for text in table.texts(key):
            self._add(text, section, name, heading)

    def _add(self, text: str, section: Section, name: str, heading: str) -> None:
        parsed = parse_requirement(text, section, name, Place(self._shown, self._line(text, heading)))
        if isinstance(parsed, Problem):
            self._found.problems.append(parsed)
        else:
            self._found.requirements.append(parsed)

    def _entry_points(self, table: Table, group: str) -> None:
        for name in table:
            value = table.text(name)
            self._found.entry_points.append(
                EntryPoint(group, name, value, Place(self._shown, self._line(value, group)))
            )

    def _line(self, value: str, heading: str) -> int:
        """The line of a value: the first one that quotes it after its heading. tomllib keeps no positions."""
        start = max(self._text.find(heading), 0)
        for quoted in (f'"{value}"', f"'{value}'"):
            for begin in (start, 0):
                position = self._text.find(quoted, begin)
                if position >= 0:
                    return self._text.count("\n", 0, position) + 1
        return 0
