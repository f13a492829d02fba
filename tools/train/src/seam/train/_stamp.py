"""One version, set in the file VERSION, written into every pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

_VERSION_LINE = re.compile(r'^version = "[^"]*"$', re.MULTILINE)


@dataclass(frozen=True)
class Drift:
    """A place that does not say what the train says."""

    path: Path
    text: str


def read_version(root: Path) -> Version:
    """The version of the train."""
    return Version((root / "VERSION").read_text("ascii").strip())


def manifests(root: Path) -> list[Path]:
    """Every distribution's pyproject.toml, in a stable order."""
    return sorted([*root.glob("packages/*/pyproject.toml"), *root.glob("tools/*/pyproject.toml")])


def sibling_specifier(version: Version) -> str:
    """The range in which a sibling honours the same contract: this minor or newer, before the next major."""
    return f"<{version.major + 1},>={version.major}.{version.minor}"


def check(root: Path) -> Iterator[Drift]:
    """Yield each version or sibling requirement that drifted from the train."""
    version = read_version(root)
    wanted = sibling_specifier(version)
    for path in manifests(root):
        project = tomllib.loads(path.read_text("utf-8"))["project"]
        if project.get("version") != str(version):
            yield Drift(path, f"version is {project.get('version')!r}, the train's is {version}")
        extras: dict[str, list[str]] = project.get("optional-dependencies", {})
        for text in [
            *project.get("dependencies", []),
            *(item for extra in extras.values() for item in extra),
        ]:
            yield from _requirement_drift(path, text, wanted)


def _requirement_drift(path: Path, text: str, wanted: str) -> Iterator[Drift]:
    try:
        requirement = Requirement(text)
    except InvalidRequirement as problem:
        yield Drift(path, f"{text!r} is not a requirement: {problem}")
        return
    if requirement.name.startswith("seam-") and str(requirement.specifier) != wanted:
        yield Drift(path, f"{text!r} should say {requirement.name}{wanted}")


def stamp(root: Path) -> list[Path]:
    """Write the train's version into every manifest; returns the files that changed."""
    version = str(read_version(root))
    changed: list[Path] = []
    for path in manifests(root):
        before = path.read_text("utf-8")
        after = _VERSION_LINE.sub(f'version = "{version}"', before, count=1)
        if after != before:
            path.write_text(after, "utf-8")
            changed.append(path)
    return changed
