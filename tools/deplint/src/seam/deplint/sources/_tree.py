"""Source trees: every member with its manifest, its modules and their imports."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from seam.deplint.facts import Distribution, Module, Place, Problem, SourceKind
from seam.deplint.sources._cache import ScanCache
from seam.deplint.sources._files import Shipped, shipped_modules
from seam.deplint.sources._manifest import Manifest
from seam.deplint.sources._manifest_record import cached_manifest
from seam.deplint.sources._parallel import scan_files

_SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__", "build", "dist"})


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """How a tree is read. `members` are globs of folders; empty means: search for every pyproject.toml."""

    members: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    roots: frozenset[str] = frozenset()
    manifests_only: bool = False
    jobs: int = 0


def read_tree(root: Path, options: TreeOptions, cache: ScanCache) -> tuple[list[Distribution], list[Problem]]:
    """Every distribution below `root`, and what kept a folder from being one."""
    found: list[Distribution] = []
    problems: list[Problem] = []
    for folder in _members(root, options, problems):
        shown = _shown(root, folder)
        try:
            text = (folder / "pyproject.toml").read_text("utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            problems.append(
                Problem("manifest-broken", f"cannot be read: {problem}", Place(f"{shown}pyproject.toml"))
            )
            continue
        manifest = cached_manifest(text, f"{shown}pyproject.toml", cache)
        if manifest is None:
            continue
        found.append(_distribution(root, folder, shown, manifest))
    if not options.manifests_only:
        _scan(root, found, options, cache)
    return found, problems


def _shown(root: Path, folder: Path) -> str:
    relative = os.path.relpath(folder, root)
    return "" if relative == "." else relative.replace(os.sep, "/") + "/"


def _members(root: Path, options: TreeOptions, problems: list[Problem]) -> list[Path]:
    def excluded(folder: Path) -> bool:
        name = _shown(root, folder).rstrip("/") or "."
        return any(
            fnmatchcase(name, pattern) or fnmatchcase(name, pattern + "/*") for pattern in options.exclude
        )

    if not options.members:
        return sorted(folder for folder in _search(root) if not excluded(folder))
    found: set[Path] = set()
    for pattern in options.members:
        matched = [item.parent for item in root.glob(f"{pattern.rstrip('/')}/pyproject.toml")]
        if not matched:
            text = f"members pattern {pattern!r} matches no folder with a pyproject.toml"
            problems.append(Problem("rule-idle", text, Place("pyproject.toml"), f"members:{pattern}"))
        found.update(folder for folder in matched if not excluded(folder))
        problems += [
            Problem(
                "module-unowned",
                "a folder of the workspace without pyproject.toml holds Python",
                Place(_shown(root, item)),
            )
            for item in sorted(root.glob(pattern.rstrip("/")))
            if item.is_dir()
            and not (item / "pyproject.toml").exists()
            and not excluded(item)
            and any(item.rglob("*.py"))
        ]
    return sorted(found)


def _search(root: Path) -> list[Path]:
    found: list[Path] = []
    stack = [root]
    while stack:
        folder = stack.pop()
        entries = list(os.scandir(folder))
        if any(entry.name == "pyproject.toml" for entry in entries):
            found.append(folder)
        stack += [
            Path(entry.path)
            for entry in entries
            if entry.is_dir(follow_symlinks=False)
            and not entry.name.startswith(".")
            and entry.name not in _SKIPPED
        ]
    return found


def _distribution(root: Path, folder: Path, shown: str, manifest: Manifest) -> Distribution:
    place = Place(f"{shown}pyproject.toml")
    shipped = shipped_modules(str(folder), manifest.packed, manifest.packed_roots)
    prefix = len(str(root)) + 1
    item = Distribution(
        name=manifest.name or folder.name.lower(),
        kind=SourceKind.SOURCE,
        root=shown.rstrip("/") or ".",
        place=place,
        version=manifest.version or _dynamic_version(folder / manifest.version_file, manifest),
        requirements=tuple(manifest.requirements),
        extras=frozenset(manifest.extras),
        entry_points=tuple(manifest.entry_points),
        modules={
            name: Module(name, path[prefix:], package) for name, (path, package) in shipped.modules.items()
        },
        typed=frozenset(shipped.typed),
        folded=manifest.folded,
        extends=manifest.extends,
        dynamic=manifest.dynamic,
        problems=list(manifest.problems),
    )
    _note_shipped(item, shipped, prefix)
    for word in ("dependencies", "optional-dependencies", "entry-points"):
        if word in manifest.dynamic and manifest.name:
            text = f"{word} are computed at build time and cannot be read from the tree; check the built wheel as well"
            item.problems.append(Problem("metadata-dynamic", text, place, word))
    return item


def _note_shipped(item: Distribution, shipped: Shipped, prefix: int) -> None:
    for path in shipped.unowned:
        text = "lies below src/ but the build configuration ships it in no distribution"
        item.problems.append(Problem("module-unowned", text, Place(path[prefix:]), path[prefix:]))
    for path, text in shipped.unreadable.items():
        item.problems.append(Problem("file-unreadable", text, Place(path[prefix:]), path[prefix:]))


def _dynamic_version(path: Path, manifest: Manifest) -> str:
    """The version that hatchling would read from a file, where it is a plain constant."""
    if "version" not in manifest.dynamic or not manifest.version_file:
        return ""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ""  # a missing version is reported by the rules that need one
    for node in tree.body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ) and any(
            isinstance(target, ast.Name) and target.id in {"__version__", "VERSION"}
            for target in node.targets
        ):
            return node.value.value
    return ""


def _scan(root: Path, found: Sequence[Distribution], options: TreeOptions, cache: ScanCache) -> None:
    base = str(root)
    paths = [os.path.join(base, module.path) for item in found for module in item.modules.values()]  # noqa: PTH118
    scans = scan_files(paths, options.roots, cache, jobs=options.jobs)
    for item in found:
        item.modules = {
            name: Module(name, module.path, module.is_package, scans[os.path.join(base, module.path)])  # noqa: PTH118
            for name, module in item.modules.items()
        }
        item.scanned = True
