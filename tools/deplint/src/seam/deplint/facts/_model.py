"""What is known about a distribution, whatever it was read from: one model for source, wheels and environments."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class SourceKind(StrEnum):
    """Where the facts of a distribution were read."""

    SOURCE = "source"
    WHEEL = "wheel"
    SDIST = "sdist"
    INSTALLED = "installed"


class Section(StrEnum):
    """Which list of a manifest holds a requirement."""

    RUN = "run"
    EXTRA = "extra"
    GROUP = "group"
    BUILD = "build"


class ImportKind(StrEnum):
    """How a module is named by another one."""

    RUN = "run time"
    TYPE_CHECKING = "type checking"
    GUARDED = "guarded by try"
    FUNCTION = "in a function"
    DYNAMIC = "by constant string"
    STRING = "named in a string"
    ENTRY_POINT = "entry-point target"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A file as it is shown to people, and a line in it (1-based; 0 means the whole file)."""

    path: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement of a distribution; `name` is canonical (PEP 503), `section_name` names the extra or group."""

    name: str
    text: str
    specifier: str
    marker: str
    extras: tuple[str, ...]
    section: Section
    section_name: str
    place: Place


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """One entry point: `value` is `module` or `module:attribute`."""

    group: str
    name: str
    value: str
    place: Place

    @property
    def module(self) -> str:
        """The dotted module of the target."""
        return self.value.partition(":")[0].strip()

    @property
    def attribute(self) -> str:
        """The dotted attribute of the target, empty where the module itself is the target."""
        return self.value.partition(":")[2].partition("[")[0].strip()


@dataclass(frozen=True, slots=True)
class RawImport:
    """An import as one file states it: `level` counts the leading dots, `names` are what `from` lists."""

    module: str
    names: tuple[str, ...]
    level: int
    kind: ImportKind
    line: int


@dataclass(frozen=True, slots=True)
class Waiver:
    """A comment in a file that lets one rule pass on its line, with the reason."""

    rule: str
    reason: str
    line: int


@dataclass(frozen=True, slots=True)
class FileScan:
    """What one Python file states, independent of where the file lies."""

    imports: tuple[RawImport, ...] = ()
    unverifiable: tuple[tuple[str, int], ...] = ()
    names: frozenset[str] = frozenset()
    star: bool = False
    waivers: tuple[Waiver, ...] = ()
    error: str = ""
    error_line: int = 0


@dataclass(frozen=True, slots=True)
class Module:
    """A module that a distribution owns, under its full dotted name."""

    name: str
    path: str
    is_package: bool
    scan: FileScan = FileScan()


@dataclass(frozen=True, slots=True)
class Import:
    """An import with its absolute module, found in one module of a distribution."""

    importer: str
    module: str
    names: tuple[str, ...]
    kind: ImportKind
    place: Place


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that kept a source from being read as it should be; becomes a finding of the rule it names."""

    rule: str
    text: str
    place: Place
    subject: str = ""


@dataclass(slots=True)
class Distribution:
    """All facts of one distribution. `name` is canonical; `root` is the folder or file it was read from."""

    name: str
    kind: SourceKind
    root: str
    place: Place
    version: str = ""
    requirements: tuple[Requirement, ...] = ()
    extras: frozenset[str] = frozenset()
    entry_points: tuple[EntryPoint, ...] = ()
    modules: dict[str, Module] = field(default_factory=dict[str, Module])
    typed: frozenset[str] = frozenset()
    folded: str | None = None
    extends: tuple[str, ...] = ()
    dynamic: frozenset[str] = frozenset()
    problems: list[Problem] = field(default_factory=list[Problem])
    scanned: bool = False
    editable: bool = False

    def requires(self, *sections: Section) -> tuple[Requirement, ...]:
        """The requirements of the given lists, in the order of the manifest."""
        return tuple(item for item in self.requirements if item.section in sections)

    @property
    def is_source(self) -> bool:
        """Whether the facts come from a source tree or an sdist, so that tool tables are visible."""
        return self.kind in {SourceKind.SOURCE, SourceKind.SDIST}
