"""Scanning many files: from the cache where the content is known, the rest on both halves of a forked pair."""

from __future__ import annotations

import gc
import marshal
import os
import sys
import threading
from collections.abc import Sequence
from typing import cast

from seam.deplint.facts import FileScan
from seam.deplint.sources._cache import ScanCache, content_key
from seam.deplint.sources._record import Record, from_record, to_record
from seam.deplint.sources._scan import scan_source

_WORTH_A_FORK = 400_000
"""Bytes of unknown source from which a second process pays."""


def scan_files(
    paths: Sequence[str], roots: frozenset[str], cache: ScanCache, *, jobs: int = 0
) -> dict[str, FileScan]:
    """Scan each file; one that cannot be read gets a scan with `error`. `jobs` 0 means one per usable processor."""
    scans: dict[str, FileScan] = {}
    unknown: dict[str, bytes] = {}
    wanted: dict[str, list[str]] = {}
    for path in paths:
        try:
            with open(path, "rb") as file:  # noqa: PTH123 - thousands of files
                source = file.read()
        except OSError as problem:
            scans[path] = FileScan(error=f"cannot be read: {problem.strerror}")
            continue
        key = content_key(source)
        record = cache.get(key)
        if record is None:
            unknown[key] = source
            wanted.setdefault(key, []).append(path)
        else:
            scans[path] = from_record(cast("Record", record))
    for key, record in _scan_unknown(unknown, roots, jobs).items():
        cache.put(key, record)
        scan = from_record(record)
        for path in wanted[key]:
            scans[path] = scan
    return scans


def _scan_unknown(sources: dict[str, bytes], roots: frozenset[str], jobs: int) -> dict[str, Record]:
    workers = jobs or len(os.sched_getaffinity(0) if sys.platform == "linux" else "x")
    total = sum(map(len, sources.values()))
    workers = min(workers, 1 + total // _WORTH_A_FORK)
    if workers < 2 or not hasattr(os, "fork") or threading.active_count() > 1:
        return _scan_here(sources, roots)
    shares: list[dict[str, bytes]] = [{} for _ in range(workers)]
    sizes = [0] * workers
    for key, source in sorted(sources.items(), key=lambda item: -len(item[1])):
        smallest = sizes.index(min(sizes))
        shares[smallest][key] = source
        sizes[smallest] += len(source)
    children = [_Child(share, roots) for share in shares[1:]]
    try:
        found = _scan_here(shares[0], roots)
    finally:
        answers = [child.collect() for child in children]
    for answer, share in zip(answers, shares[1:], strict=True):
        found.update(answer if answer is not None else _scan_here(share, roots))
    return found


def _scan_here(sources: dict[str, bytes], roots: frozenset[str]) -> dict[str, Record]:
    # a syntax tree has no use for the cycle collector, which costs a third of the parse
    enabled = gc.isenabled()
    gc.disable()
    try:
        return {key: to_record(scan_source(source, roots)) for key, source in sources.items()}
    finally:
        if enabled:
            gc.enable()


class _Child:
    """A forked copy of this process that scans a share and writes the records into a pipe. Its maker collects it."""

    def __init__(self, share: dict[str, bytes], roots: frozenset[str]) -> None:
        self._reader, writer = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            status = 1
            try:
                os.close(self._reader)
                with os.fdopen(writer, "wb") as pipe:
                    pipe.write(marshal.dumps(_scan_here(share, roots)))
                status = 0
            finally:
                os._exit(status)
        os.close(writer)

    def collect(self) -> dict[str, Record] | None:
        """Wait for the child; None where it died before its answer was complete."""
        with os.fdopen(self._reader, "rb") as pipe:
            data = pipe.read()
        _, status = os.waitpid(self._pid, 0)
        if status != 0:
            return None
        loaded: object = marshal.loads(data)  # written by our own fork a moment ago
        return cast("dict[str, Record]", loaded)
