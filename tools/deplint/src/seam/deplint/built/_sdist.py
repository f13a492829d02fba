"""An sdist as facts: unpacked into a temporary folder and read like a source tree, without running its build."""

from __future__ import annotations

import tarfile
import tempfile
import zlib
from dataclasses import replace
from pathlib import Path

from seam.deplint.built._metadata import Built, from_metadata
from seam.deplint.built._wheel import NotAnArchive
from seam.deplint.facts import Distribution, Module, Place, Problem, SourceKind
from seam.deplint.sources._cache import ScanCache
from seam.deplint.sources._tree import TreeOptions, read_tree

_WANTED = (".py", "pyproject.toml", "PKG-INFO", "py.typed")
_LARGEST_MEMBER = 32 * 1024 * 1024
"""Bytes; nothing that a linter reads is larger."""


def read_sdist(path: Path, shown: str, options: TreeOptions, cache: ScanCache) -> Distribution:
    """The facts of one sdist; raises `NotAnArchive`. What `dynamic` leaves out is taken from its PKG-INFO."""
    try:
        with tempfile.TemporaryDirectory(prefix="seam-deplint-") as name, tarfile.open(path) as archive:
            folder = Path(name)
            problems = _unpack(archive, folder, shown)
            tops = [item for item in folder.iterdir() if item.is_dir()]
            if len(tops) != 1:
                raise NotAnArchive(f"{shown} has {len(tops)} top folders where an sdist has one")
            return _read(tops[0], shown, options, cache, problems)
    except (OSError, tarfile.TarError, EOFError, zlib.error) as problem:
        raise NotAnArchive(f"{shown} cannot be read as an sdist: {problem}") from problem


def _unpack(archive: tarfile.TarFile, folder: Path, shown: str) -> list[Problem]:
    problems: list[Problem] = []
    for member in archive:
        if not member.name.endswith(_WANTED) or not member.isfile() or member.size > _LARGEST_MEMBER:
            continue
        try:
            archive.extract(member, folder, filter="data")
        except tarfile.FilterError as problem:
            problems.append(Problem("archive-unsafe", str(problem), Place(shown), member.name))
    return problems


def _read(
    top: Path, shown: str, options: TreeOptions, cache: ScanCache, problems: list[Problem]
) -> Distribution:
    found, beside = read_tree(top, replace(options, members=(), exclude=("tests", "tests/*")), cache)
    own = next((item for item in found if item.root == "."), None)
    info = top / "PKG-INFO"
    if own is None and not info.is_file():
        raise NotAnArchive(f"{shown} has neither a pyproject.toml with [project] nor a PKG-INFO")
    if info.is_file():
        own = _with_built(own, info.read_text("utf-8", errors="replace"))
    assert own is not None  # one of the two exists, see above
    own.kind = SourceKind.SDIST
    own.root = shown
    own.place = Place(f"{shown}!pyproject.toml")
    own.requirements = tuple(replace(item, place=_inside(shown, item.place)) for item in own.requirements)
    own.entry_points = tuple(replace(item, place=_inside(shown, item.place)) for item in own.entry_points)
    own.modules = {
        name: Module(name, f"{shown}!{module.path}", module.is_package, module.scan)
        for name, module in own.modules.items()
    }
    own.problems = [replace(item, place=_inside(shown, item.place)) for item in own.problems]
    own.problems += problems + [replace(item, place=_inside(shown, item.place)) for item in beside]
    return own


def _inside(shown: str, place: Place) -> Place:
    return Place(f"{shown}!{place.path}", place.line)


def _with_built(own: Distribution | None, text: str) -> Distribution:
    """Fill what the manifest leaves to the build from the metadata that the build wrote."""
    built = from_metadata(Built(text), SourceKind.SDIST, "", "")
    if own is None:
        built.place = Place("PKG-INFO")
        return built
    if "dependencies" in own.dynamic or "optional-dependencies" in own.dynamic:
        own.requirements = built.requirements
        own.extras = built.extras
        own.dynamic = own.dynamic - {"dependencies", "optional-dependencies"}
        own.problems = [
            item for item in own.problems if item.rule != "metadata-dynamic" or item.subject == "entry-points"
        ]
    own.version = own.version or built.version
    return own
