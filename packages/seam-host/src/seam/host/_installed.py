"""What is installed, from metadata alone. Broken, stale and shadowed distributions are named, and stop nothing."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
from collections.abc import Iterator, Sequence
from email.message import Message
from importlib.metadata import Distribution
from pathlib import Path
from typing import cast

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from seam.host._entry_points import EntryPoint, parse_entry_points
from seam.kernel import Value

FAMILY = "seam-"
"""Distributions of the house; those of third parties are known by their entry points."""

_ROLE_GROUPS = ("seam.definition", "seam.implementer.", "seam.consumer")


class InstalledProblem(Value):
    """Something wrong with one distribution's metadata.

    Attributes:
        path: its metadata folder.
        text: what is wrong.
    """

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


class Installed(Value):
    """One distribution that takes part in Seam.

    Attributes:
        name: as its metadata spells it.
        version: as its metadata spells it.
        path: its metadata folder.
        entry_points: those of Seam's groups.
        requires: its `Requires-Dist` lines.
        fingerprint: changes when another build is installed.
    """

    name: str
    version: str
    path: str
    entry_points: tuple[EntryPoint, ...] = ()
    requires: tuple[str, ...] = ()
    fingerprint: str = ""

    @property
    def canonical(self) -> str:
        """The name, normalised (PEP 503)."""
        return canonicalize_name(self.name)

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def read_installed(path: Sequence[str] | None = None) -> tuple[list[Installed], list[InstalledProblem]]:
    """Every distribution that takes part in Seam; the first one of a name on the path counts. Nothing is imported or cached.

    Args:
        path: folders to search instead of `sys.path`.
    """
    problems: list[InstalledProblem] = []
    first: dict[str, tuple[str, list[Distribution]]] = {}
    for found in _walk(path, problems):
        if not _has_metadata(found):
            problems.append(InstalledProblem(path=_place(found), text=_LEFT_OVER))
            continue
        name, folder = canonicalize_name(_file_name(found)), str(found.locate_file(""))
        known_folder, candidates = first.setdefault(name, (folder, []))
        if known_folder == folder:
            candidates.append(found)
    installed: list[Installed] = []
    for _, candidates in first.values():
        reading = _read(_newest(candidates, problems), problems)
        if reading is not None:
            installed.append(reading)
    return installed, problems


_LEFT_OVER = (
    "holds no METADATA: left over from an interrupted installation; remove the folder, or install again"
)


def _walk(path: Sequence[str] | None, problems: list[InstalledProblem]) -> Iterator[Distribution]:
    importlib.invalidate_caches()
    steps: Iterator[Distribution] | None = None
    while True:
        try:
            steps = _search(path) if steps is None else steps
            yield next(steps)
        except StopIteration:
            return
        except Exception as error:
            # a finder that another package installed raised; what it had not found yet is lost
            problems.append(
                InstalledProblem(path="sys.meta_path", text=f"a finder of distributions raised {error!r}")
            )
            return


def _search(path: Sequence[str] | None) -> Iterator[Distribution]:
    if path is None:
        return iter(importlib.metadata.distributions())
    return iter(importlib.metadata.distributions(path=list(path)))


def _has_metadata(found: Distribution) -> bool:
    try:
        return bool(found.read_text("METADATA") or found.read_text("PKG-INFO") or found.read_text(""))
    except UnicodeDecodeError:
        return True  # it is there; what it says is looked at, and reported, when it is needed


def _newest(candidates: list[Distribution], problems: list[InstalledProblem]) -> Distribution:
    if len(candidates) == 1:
        return candidates[0]
    ordered = sorted(candidates, key=_version)
    versions = ", ".join(Path(_place(found)).name for found in ordered)
    problems.append(
        InstalledProblem(
            path=_place(ordered[-1]),
            text=f"several versions are installed in one folder ({versions}); install the one that you want again",
        )
    )
    return ordered[-1]


def _version(found: Distribution) -> tuple[bool, Version, str]:
    stem = Path(_place(found)).stem.rpartition("-")[2]
    try:
        return True, Version(stem), stem
    except InvalidVersion:
        return False, Version("0"), stem


def _read(found: Distribution, problems: list[InstalledProblem]) -> Installed | None:
    place = _place(found)
    entry_points: list[EntryPoint] = []
    try:
        text = found.read_text("entry_points.txt") or ""
    except UnicodeDecodeError as error:
        if "seam." in str(error.object[:4000]) or canonicalize_name(_file_name(found)).startswith(FAMILY):
            problems.append(
                InstalledProblem(path=place, text="entry_points.txt is not UTF-8; install it again")
            )
        return None
    if "seam." in text:
        listed, bad = parse_entry_points(text)
        entry_points = [entry for entry in listed if entry.group.startswith(_ROLE_GROUPS)]
        problems += [InstalledProblem(path=place, text=f"entry_points.txt: {line}") for line in bad]
    if not entry_points and not canonicalize_name(_file_name(found)).startswith(FAMILY):
        return None
    try:
        metadata = cast(
            Message, found.metadata
        )  # `get`, since asking by index is deprecated for what is missing
        name, version = str(metadata.get("Name") or ""), str(metadata.get("Version") or "")
        requires = tuple(metadata.get_all("Requires-Dist") or ())
    except (
        UnicodeDecodeError,
        KeyError,
    ):  # KeyError is what later versions of Python raise for a missing field
        name, version, requires = "", "", ()
    if not name or not version:
        problems.append(
            InstalledProblem(
                path=place, text="METADATA has no name or no version; install the distribution again"
            )
        )
        return None
    return Installed(
        name=name,
        version=version,
        path=place,
        entry_points=tuple(entry_points),
        requires=requires,
        fingerprint=_fingerprint(found),
    )


def _fingerprint(found: Distribution) -> str:
    total = hashlib.sha256(_place(found).encode(errors="surrogateescape"))
    for name in ("METADATA", "entry_points.txt", "RECORD", "direct_url.json"):
        total.update(f"{name}:{found.read_text(name)}".encode(errors="surrogateescape"))
    return total.hexdigest()


def _place(found: Distribution) -> str:
    """Its metadata folder; a finder that has none is named by what it says."""
    return str(getattr(found, "_path", found))


def _file_name(found: Distribution) -> str:
    """The name in the metadata folder's own name: `seam_exec_local-0.1.0.dist-info` is `seam_exec_local`."""
    stem = Path(_place(found)).stem
    name, dash, _ = stem.rpartition("-") if ".dist-info" in _place(found) else stem.partition("-")
    return name if dash else stem
