"""Manifests as plain values in the cache: parsing TOML and requirements costs more than everything else of a cached run."""

from __future__ import annotations

from typing import cast

from seam.deplint.facts import EntryPoint, Place, Problem, Requirement, Section
from seam.deplint.sources._cache import ScanCache, content_key
from seam.deplint.sources._manifest import Manifest, read_manifest

_SECTIONS = {section.value: section for section in Section}

_Record = tuple[
    list[object],
    list[tuple[str, str, str, str, list[str], str, str, int]],
    list[tuple[str, str, str, int]],
    list[tuple[str, str, str, int]],
    list[list[str]],
]
"""Plain fields, requirements, entry points, problems, lists of texts; a place is its line, its path is the reader's."""


def cached_manifest(text: str, shown: str, cache: ScanCache) -> Manifest | None:
    """`read_manifest`, from the cache where the content is known."""
    key = "manifest:" + content_key(text.encode("utf-8"))
    known = cache.get(key)
    if known == []:
        return None
    if known is not None:
        return _from_record(cast("_Record", known), shown)
    found = read_manifest(text, shown)
    cache.put(key, [] if found is None else _to_record(found))
    return found


def _to_record(found: Manifest) -> _Record:
    return (
        [found.name, found.version, found.version_file, found.folded],
        [
            (
                r.name,
                r.text,
                r.specifier,
                r.marker,
                list(r.extras),
                r.section.value,
                r.section_name,
                r.place.line,
            )
            for r in found.requirements
        ],
        [(point.group, point.name, point.value, point.place.line) for point in found.entry_points],
        [(problem.rule, problem.text, problem.subject, problem.place.line) for problem in found.problems],
        [
            sorted(found.extras),
            sorted(found.dynamic),
            list(found.extends),
            list(found.packed),
            list(found.packed_roots),
        ],
    )


def _from_record(record: _Record, shown: str) -> Manifest:
    plain, requirements, points, problems, (extras, dynamic, extends, packed, packed_roots) = record
    name, version, version_file, folded = plain
    return Manifest(
        name=str(name),
        version=str(version),
        requirements=[
            Requirement(
                name, text, specifier, marker, tuple(wanted), _SECTIONS[section], where, Place(shown, line)
            )
            for name, text, specifier, marker, wanted, section, where, line in requirements
        ],
        extras=set(extras),
        entry_points=[
            EntryPoint(group, name, value, Place(shown, line)) for group, name, value, line in points
        ],
        dynamic=frozenset(dynamic),
        version_file=str(version_file),
        folded=None if folded is None else str(folded),
        extends=tuple(extends),
        packed=tuple(packed),
        packed_roots=tuple(packed_roots),
        problems=[Problem(rule, text, Place(shown, line), subject) for rule, text, subject, line in problems],
    )
