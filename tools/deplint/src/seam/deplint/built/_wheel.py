"""A built wheel as facts, read in place: nothing is unpacked."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import cast

from seam.deplint.built._metadata import (
    Built,
    from_metadata,
    is_unsafe,
    module_of,
    read_record,
    record_digest,
)
from seam.deplint.facts import Distribution, FileScan, Module, Place, Problem, SourceKind
from seam.deplint.sources._cache import ScanCache, content_key
from seam.deplint.sources._record import Record, from_record, to_record
from seam.deplint.sources._scan import scan_source

_LARGEST_SOURCE = 32 * 1024 * 1024
"""Bytes; a Python file beyond this is not parsed but named."""


class NotAnArchive(Exception):
    """The file is no wheel or sdist that can be read; the text says why."""


def read_wheel(path: Path, shown: str, prefix: str, roots: frozenset[str], cache: ScanCache) -> Distribution:
    """The facts of one wheel; raises `NotAnArchive` where there is no metadata to read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _Reader(archive, shown, prefix, roots, cache).read()
    except (
        OSError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        UnicodeDecodeError,
        NotImplementedError,
        RuntimeError,
    ) as problem:
        raise NotAnArchive(f"{shown} cannot be read as a wheel: {problem}") from problem


class _Reader:
    def __init__(
        self, archive: zipfile.ZipFile, shown: str, prefix: str, roots: frozenset[str], cache: ScanCache
    ) -> None:
        self._archive = archive
        self._shown = shown
        self._prefix = prefix
        self._roots = roots
        self._cache = cache
        self._names = [info.filename for info in archive.infolist() if not info.is_dir()]
        self._data: dict[str, bytes] = {}

    def read(self) -> Distribution:
        infos = [
            name for name in self._names if name.endswith(".dist-info/METADATA") and name.count("/") == 1
        ]
        if len(infos) != 1:
            raise NotAnArchive(f"{self._shown} has {len(infos)} METADATA files where a wheel has one")
        info = infos[0].removesuffix("METADATA")
        built = Built(
            metadata=self._bytes(infos[0]).decode("utf-8"),
            entry_points=self._text(info + "entry_points.txt"),
            shown=f"{self._shown}!{info}",
        )
        item = from_metadata(built, SourceKind.WHEEL, self._shown, self._prefix)
        item.problems += self._unsafe()
        item.problems += self._record(info)
        self._modules(item)
        item.scanned = True
        return item

    def _bytes(self, name: str) -> bytes:
        if name not in self._data:
            self._data[name] = self._archive.read(name)
        return self._data[name]

    def _text(self, name: str) -> str:
        return self._bytes(name).decode("utf-8") if name in self._names else ""

    def _unsafe(self) -> list[Problem]:
        text = "the path leaves the folder that the archive is unpacked into"
        return [
            Problem("archive-unsafe", f"{name!r}: {text}", Place(self._shown), name)
            for name in self._names
            if is_unsafe(name)
        ]

    def _record(self, info: str) -> list[Problem]:
        record = info + "RECORD"
        place = Place(f"{self._shown}!{record}")
        if record not in self._names:
            return [Problem("record-mismatch", "the wheel has no RECORD", place, "absent")]
        listed = dict(read_record(self._text(record)))
        signed = {record, record + ".jws", record + ".p7s"}
        problems: list[Problem] = []
        for name in sorted(set(self._names) - listed.keys() - signed):
            problems.append(
                Problem("record-mismatch", f"{name} is in the wheel and not in RECORD", place, name)
            )
        for name, digest in sorted(listed.items()):
            if is_unsafe(name):
                continue  # named as unsafe already, by the archive or below
            if name not in self._names:
                problems.append(
                    Problem("record-mismatch", f"{name} is in RECORD and not in the wheel", place, name)
                )
            elif not self._has_digest(name, digest):
                problems.append(
                    Problem("record-mismatch", f"{name} has another digest than RECORD", place, name)
                )
        return problems

    def _has_digest(self, name: str, digest: str) -> bool:
        if not digest.startswith("sha256=") or self._archive.getinfo(name).file_size > _LARGEST_SOURCE:
            return True  # RECORD lists itself without a digest; other algorithms are left to installers
        return record_digest(self._bytes(name)) == digest

    def _modules(self, item: Distribution) -> None:
        typed: set[str] = set()
        for name in self._names:
            inner = _in_site_packages(name)
            found = module_of(inner)
            if found is not None:
                item.modules[found[0]] = Module(found[0], f"{self._shown}!{name}", found[1], self._scan(name))
            elif inner.endswith("/py.typed"):
                typed.add(inner.removesuffix("/py.typed").replace("/", "."))
        item.typed = frozenset(typed)

    def _scan(self, name: str) -> FileScan:
        if not name.endswith(".py"):
            return FileScan(star=True)  # compiled: its names are unknown, so no target in it is called wrong
        if self._archive.getinfo(name).file_size > _LARGEST_SOURCE:
            return FileScan(error="is too large to be parsed")
        source = self._bytes(name)
        key = content_key(source)
        known = self._cache.get(key)
        record = cast("Record", known) if known is not None else to_record(scan_source(source, self._roots))
        self._cache.put(key, record)
        return from_record(record)


def _in_site_packages(name: str) -> str:
    """Where a file of the wheel is installed: `x.data/purelib/` is unpacked into site-packages itself."""
    parts = name.split("/", 2)
    if len(parts) == 3 and parts[0].endswith(".data"):
        return parts[2] if parts[1] in {"purelib", "platlib"} else ""
    return name
