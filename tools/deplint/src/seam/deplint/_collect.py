"""From what a run is asked to check to views: trees, archives, an environment and deployments, read once each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from seam.deplint.facts import Distribution, Place, Problem, SourceKind
from seam.deplint.rules import View, assign
from seam.deplint.settings import Settings
from seam.deplint.sources import Deployment, ScanCache, TreeOptions, read_deployment, read_tree


class NotChecked(Exception):
    """The run cannot say anything about what it was asked to check."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a run is asked to check."""

    trees: tuple[Path, ...] = ()
    archives: tuple[Path, ...] = ()
    deployments: tuple[Path, ...] = ()
    environment: Path | None = None
    manifests_only: bool = False
    environment_imports: bool = False
    jobs: int = 0


@dataclass(slots=True)
class Material:
    """Everything that was read."""

    views: list[View] = field(default_factory=list[View])
    deployments: list[Deployment] = field(default_factory=list[Deployment])
    problems: list[Problem] = field(default_factory=list[Problem])


def sort_paths(paths: Sequence[str]) -> Request:
    """Tell trees, archives and deployments apart; a folder that holds wheels or sdists stands for all of them."""
    trees: list[Path] = []
    archives: list[Path] = []
    deployments: list[Path] = []
    for text in paths:
        path = Path(text)
        if path.is_dir():
            held = sorted(item for item in path.iterdir() if _is_archive(item))
            if held and not (path / "pyproject.toml").exists():
                archives += held
            else:
                trees.append(path)
        elif not path.exists():
            raise NotChecked(f"{path} does not exist")
        elif _is_archive(path):
            archives.append(path)
        elif path.suffix == ".toml" and path.name != "pyproject.toml":
            deployments.append(path)
        else:
            raise NotChecked(f"{path} is neither a folder nor a wheel, an sdist or a deployment file")
    return Request(tuple(trees), tuple(archives), tuple(deployments))


def _is_archive(path: Path) -> bool:
    return path.name.endswith((".whl", ".tar.gz"))


def collect(request: Request, settings: Settings, cache: ScanCache) -> Material:
    """Read everything that the request names; raises `NotChecked` where nothing at all was there to check."""
    material = Material()
    options = TreeOptions(
        settings.members, settings.exclude, settings.roots, request.manifests_only, request.jobs
    )
    source: list[Distribution] = []
    for tree in request.trees:
        found, problems = read_tree(tree.resolve(), options, cache)
        if not found and not problems:
            raise NotChecked(f"nothing to check: no pyproject.toml with [project] below {tree}")
        source += found
        material.problems += problems
    _twice(source, material)
    archives = _archives(request, settings, options, cache, material)
    installed = _installed(request, settings, cache, material)
    foreign = [item for item in installed if not _ours(item, settings)]
    homes = {item.name: item.root for item in source}
    if source:
        material.views.append(View(SourceKind.SOURCE, source, settings, context=foreign))
    for kind in (SourceKind.SDIST, SourceKind.WHEEL):
        members = [item for item in archives if item.kind is kind]
        if members:
            whole = bool(source) and {item.name for item in members} >= {item.name for item in source}
            view = View(kind, members, settings, context=[*foreign, *source], whole=whole, homes=homes)
            material.views.append(view)
    ours = [item for item in installed if _ours(item, settings)]
    if ours:
        material.views.append(
            View(SourceKind.INSTALLED, ours, settings, context=foreign, whole=False, homes=homes)
        )
    elif request.environment is not None:
        raise NotChecked(
            f"nothing to check: no distribution of this family is installed in {request.environment}"
        )
    material.deployments = [read_deployment(path) for path in request.deployments]
    material.problems += [problem for item in material.deployments for problem in item.problems]
    _something(request, material)
    return material


def _something(request: Request, material: Material) -> None:
    if not material.views and not material.problems:
        raise NotChecked("nothing to check: no distribution was found")
    modules = sum(len(item.modules) for view in material.views for item in view.members.values())
    if material.views and not modules and not request.manifests_only:
        raise NotChecked("nothing to check: the distributions that were found have no Python modules")
    if material.deployments and not material.views:
        raise NotChecked(
            "a deployment is checked against distributions: name a source tree, wheels or --python as well"
        )


def _ours(item: Distribution, settings: Settings) -> bool:
    return settings.is_family(item.name) or bool(assign(item, settings).roles)


def _twice(found: list[Distribution], material: Material) -> None:
    first: dict[str, Distribution] = {}
    for item in found:
        other = first.setdefault(item.name, item)
        if other is not item:
            text = f"{item.name} is the name of two members: {other.root} and {item.root}"
            material.problems.append(Problem("manifest-broken", text, item.place, f"twice:{item.name}"))


def _archives(
    request: Request, settings: Settings, options: TreeOptions, cache: ScanCache, material: Material
) -> list[Distribution]:
    if not request.archives:
        return []
    from seam.deplint.built import NotAnArchive, read_sdist, read_wheel

    found: list[Distribution] = []
    for path in request.archives:
        shown = os.path.relpath(path)
        try:
            if path.suffix == ".whl":
                found.append(read_wheel(path, shown, settings.group_prefix, settings.roots, cache))
            else:
                found.append(read_sdist(path, shown, options, cache))
        except NotAnArchive as problem:
            material.problems.append(Problem("archive-broken", str(problem), Place(shown), shown))
    return found


def _installed(
    request: Request, settings: Settings, cache: ScanCache, material: Material
) -> list[Distribution]:
    if request.environment is None:
        return []
    from seam.deplint.built import EnvironmentOptions, NoEnvironment, read_environment, site_folders

    options = EnvironmentOptions(
        is_ours=lambda item: _ours(item, settings),
        prefix=settings.group_prefix,
        imports=request.environment_imports,
        roots=settings.roots,
    )
    try:
        environment = read_environment(site_folders(request.environment), options, cache)
    except NoEnvironment as problem:
        raise NotChecked(str(problem)) from problem
    material.problems += environment.problems
    return environment.distributions
