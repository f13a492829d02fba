"""Built metadata as facts: METADATA headers, entry_points.txt, RECORD. Written for speed: the body is never parsed."""

from __future__ import annotations

import base64
import csv
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from seam.deplint.facts import (
    Distribution,
    EntryPoint,
    Place,
    Problem,
    Requirement,
    Section,
    SourceKind,
    canonical,
)
from seam.deplint.sources._requirements import extra_of_marker, parse_requirement

_MODULE_SUFFIXES = (".py", ".so", ".pyd")


@dataclass(slots=True)
class Built:
    """The three metadata files of a built distribution, as text, and where they are shown."""

    metadata: str
    entry_points: str = ""
    shown: str = ""
    problems: list[Problem] = field(default_factory=list[Problem])


def headers(text: str) -> list[tuple[str, str]]:
    """The header fields of METADATA (RFC 822 style), in order; the description below them is left alone."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if not line:
            break
        if line[0] in " \t" and found:
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line.strip())
            continue
        name, colon, value = line.partition(":")
        if colon:
            found.append((name.lower(), value.strip()))
    return found


def from_metadata(built: Built, kind: SourceKind, root: str, prefix: str) -> Distribution:
    """The facts of one built distribution; `prefix` is the group prefix whose `folded` and `extends` are declarations."""
    place = Place(f"{built.shown}METADATA")
    item = Distribution("", kind, root, place)
    item.problems += built.problems
    requirements: list[Requirement] = []
    extras: set[str] = set()
    for index, (name, value) in enumerate(headers(built.metadata), 1):
        if name == "name":
            item.name = canonical(value)
        elif name == "version":
            item.version = value
        elif name == "provides-extra":
            extras.add(canonical(value))
        elif name == "requires-dist":
            extra = extra_of_marker(value)
            section = Section.EXTRA if extra else Section.RUN
            parsed = parse_requirement(value, section, extra, Place(place.path, index))
            if isinstance(parsed, Problem):
                item.problems.append(Problem("metadata-broken", parsed.text, parsed.place, parsed.subject))
            else:
                requirements.append(parsed)
    item.requirements = tuple(requirements)
    item.extras = frozenset(extras)
    item.entry_points = tuple(read_entry_points(built.entry_points, f"{built.shown}entry_points.txt"))
    read_declarations(item, prefix)
    return item


def read_declarations(item: Distribution, prefix: str) -> None:
    """Take `folded` and `extends` from the entry points that carry them in built metadata."""
    if not prefix:
        return
    reasons = [point.name for point in item.entry_points if point.group == f"{prefix}folded"]
    item.folded = reasons[0] if reasons else None
    names = (point.name for point in item.entry_points if point.group == f"{prefix}extends")
    item.extends = tuple(canonical(name) for name in names)


def read_entry_points(text: str, shown: str) -> Iterable[EntryPoint]:
    """The entry points of an entry_points.txt; lines that are none are left out, as importlib.metadata does."""
    group = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif group and line and line[0] not in "#;":
            name, equals, value = line.partition("=")
            if equals:
                yield EntryPoint(group, name.strip(), value.strip(), Place(shown, number))


def read_record(text: str) -> list[tuple[str, str]]:
    """The rows of a RECORD: path and digest."""
    return [(row[0], row[1] if len(row) > 1 else "") for row in csv.reader(text.splitlines()) if row]


def record_digest(data: bytes) -> str:
    """The digest of a file as RECORD writes it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def is_unsafe(path: str) -> bool:
    """Whether an archive path leaves the folder it is unpacked into."""
    return (
        path.startswith(("/", "\\"))
        or ":" in path.split("/", maxsplit=1)[0]
        or ".." in path.replace("\\", "/").split("/")
    )


def module_of(path: str) -> tuple[str, bool] | None:
    """The dotted module of a file in site-packages and whether it is a package; None for any other file."""
    if not path.endswith(_MODULE_SUFFIXES) or is_unsafe(path):
        return None
    folder, _, name = path.rpartition("/")
    if ".dist-info" in folder or ".egg-info" in folder or "__pycache__" in folder:
        return None
    stem = name.partition(".")[0]
    parts = [part for part in folder.split("/") if part]
    if not all(part.isidentifier() for part in parts) or not stem.isidentifier():
        return None
    if stem == "__init__":
        return (".".join(parts), True) if parts else None
    return ".".join([*parts, stem]), False
