"""An installed environment as facts: its dist-info folders and what their RECORDs own."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from seam.deplint.built._metadata import Built, from_metadata, module_of, read_record
from seam.deplint.facts import Distribution, Module, Place, Problem, SourceKind
from seam.deplint.sources._cache import ScanCache
from seam.deplint.sources._files import shipped_modules
from seam.deplint.sources._parallel import scan_files


@dataclass(slots=True)
class Environment:
    """What is installed, and what lies there without an owner."""

    distributions: list[Distribution] = field(default_factory=list[Distribution])
    problems: list[Problem] = field(default_factory=list[Problem])


@dataclass(frozen=True, slots=True)
class EnvironmentOptions:
    """How an environment is read. `is_ours` picks what is looked at closely; `imports` reads their modules too."""

    is_ours: Callable[[Distribution], bool]
    prefix: str = ""
    imports: bool = False
    roots: frozenset[str] = frozenset()


def read_environment(folders: list[Path], options: EnvironmentOptions, cache: ScanCache) -> Environment:
    """Every distribution of the folders. A broken one is named and the others are read all the same."""
    found = Environment()
    for folder in folders:
        owned: set[str] = set()
        for name in sorted(os.listdir(folder)):  # noqa: PTH208 - names are enough
            if name.endswith(".dist-info"):
                _Installed(folder, name, options, found, owned).read()
            elif name.endswith(".egg-info"):
                _legacy(folder, name, found)
        _unowned(folder, options, owned, found)
    _twice(found)
    if options.imports:
        _scan(found, options, cache)
    return found


class _Installed:
    def __init__(
        self, folder: Path, name: str, options: EnvironmentOptions, found: Environment, owned: set[str]
    ) -> None:
        self._folder = folder
        self._name = name
        self._options = options
        self._found = found
        self._owned = owned

    def read(self) -> None:
        metadata = self._text("METADATA")
        if metadata is None:
            said = f"{self._name} has no readable METADATA: installers and importlib.metadata stumble over it"
            self._found.problems.append(Problem("metadata-broken", said, Place(self._name), self._name))
            return
        built = Built(metadata, self._text("entry_points.txt") or "", f"{self._name}/")
        item = from_metadata(built, SourceKind.INSTALLED, str(self._folder), self._options.prefix)
        if not item.name:
            said = f"{self._name}/METADATA names no distribution"
            self._found.problems.append(Problem("metadata-broken", said, Place(self._name), self._name))
            return
        record = self._text("RECORD")
        paths = [path for path, _ in read_record(record)] if record else []
        if record is None and self._options.is_ours(item):
            said = f"{self._name} has no RECORD: what it owns is unknown"
            item.problems.append(Problem("metadata-broken", said, item.place, "record"))
        self._modules(item, paths)
        self._found.distributions.append(item)

    def _text(self, name: str) -> str | None:
        try:
            return (self._folder / self._name / name).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return None  # the callers say what its absence means

    def _modules(self, item: Distribution, paths: list[str]) -> None:
        base = str(self._folder)
        ours = self._options.is_ours(item)
        typed: set[str] = set()
        for path in paths:
            self._owned.add(path)
            found = module_of(path)
            if found:
                item.modules[found[0]] = Module(found[0], path, found[1])
                if ours and not os.path.exists(f"{base}/{path}"):  # noqa: PTH110 - hundreds of files
                    said = f"{path} is in RECORD and not on disk: the installation is damaged"
                    item.problems.append(
                        Problem("record-mismatch", said, Place(f"{self._name}/RECORD"), path)
                    )
            elif path.endswith("/py.typed"):
                typed.add(path.removesuffix("/py.typed").replace("/", "."))
            elif path.endswith(".pth") and "/" not in path and ours:
                typed |= self._editable(item, path)
        item.typed = frozenset(typed)

    def _editable(self, item: Distribution, pth: str) -> set[str]:
        """The modules of an editable install: below the folders that its `.pth` names."""
        typed: set[str] = set()
        try:
            lines = (self._folder / pth).read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return typed  # already named as missing from disk where RECORD lists it
        for line in lines:
            if not line.strip() or line.startswith(("#", "import ", "import\t")):
                continue
            shipped = shipped_modules(str(Path(line).parent), (), (Path(line).name,))
            item.editable = True
            item.modules |= {
                name: Module(name, path, package) for name, (path, package) in shipped.modules.items()
            }
            typed |= shipped.typed
        return typed


def _legacy(folder: Path, name: str, found: Environment) -> None:
    path = folder / name / "PKG-INFO" if (folder / name).is_dir() else folder / name
    try:
        item = from_metadata(
            Built(path.read_text("utf-8"), "", f"{name}/"), SourceKind.INSTALLED, str(folder), ""
        )
    except (OSError, UnicodeDecodeError):
        found.problems.append(
            Problem("metadata-broken", f"{name} has no readable PKG-INFO", Place(name), name)
        )
        return
    if item.name:
        found.distributions.append(item)


def _twice(found: Environment) -> None:
    seen: dict[str, Distribution] = {}
    for item in found.distributions:
        first = seen.setdefault(item.name, item)
        if first is not item:
            said = f"{item.name} is installed twice, as {first.version} and as {item.version}"
            found.problems.append(Problem("metadata-broken", said, item.place, f"twice:{item.name}"))


def _unowned(folder: Path, options: EnvironmentOptions, owned: set[str], found: Environment) -> None:
    """Python files below the namespace that no RECORD lists: left behind, or copied by hand."""
    for root in sorted(options.roots):
        top = folder / root
        if not top.is_dir():
            continue
        shipped = shipped_modules(str(folder), (root,), ())
        for path, _ in shipped.modules.values():
            relative = os.path.relpath(path, folder).replace(os.sep, "/")
            if relative not in owned:
                said = f"{relative} belongs to no installed distribution"
                found.problems.append(Problem("module-unowned", said, Place(relative), relative))


def _scan(found: Environment, options: EnvironmentOptions, cache: ScanCache) -> None:
    ours = [item for item in found.distributions if options.is_ours(item)]
    wanted: dict[tuple[str, str], str] = {}
    for item in ours:
        for name, module in item.modules.items():
            if module.path.endswith(".py"):
                wanted[item.name, name] = os.path.join(item.root, module.path)  # noqa: PTH118 - hundreds of files
    scans = scan_files(sorted(set(wanted.values())), options.roots, cache)
    for item in ours:
        for name, module in list(item.modules.items()):
            path = wanted.get((item.name, name))
            if path:
                item.modules[name] = Module(name, module.path, module.is_package, scans[path])
        item.scanned = True
