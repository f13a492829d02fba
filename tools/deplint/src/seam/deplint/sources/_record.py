"""File scans as plain values, for the cache on disk and for the pipe from a worker process."""

from __future__ import annotations

from seam.deplint.facts import FileScan, ImportKind, RawImport, Waiver

_KINDS = {kind.value: kind for kind in ImportKind}

Record = tuple[
    list[tuple[str, list[str], int, str, int]],
    list[tuple[str, int]],
    list[str],
    bool,
    list[tuple[str, str, int]],
    str,
    int,
]
"""imports, unverifiable, names, star, waivers, error, error line: the fields of `FileScan` in order."""


def to_record(scan: FileScan) -> Record:
    """Flatten a scan."""
    return (
        [(item.module, list(item.names), item.level, item.kind.value, item.line) for item in scan.imports],
        list(scan.unverifiable),
        sorted(scan.names),
        scan.star,
        [(item.rule, item.reason, item.line) for item in scan.waivers],
        scan.error,
        scan.error_line,
    )


def from_record(record: Record) -> FileScan:
    """Rebuild a scan."""
    imports, unverifiable, names, star, waivers, error, error_line = record
    return FileScan(
        imports=tuple(RawImport(a, tuple(b), c, _KINDS[d], e) for a, b, c, d, e in imports),
        unverifiable=tuple((text, line) for text, line in unverifiable),
        names=frozenset(names),
        star=star,
        waivers=tuple(Waiver(a, b, c) for a, b, c in waivers),
        error=error,
        error_line=error_line,
    )
