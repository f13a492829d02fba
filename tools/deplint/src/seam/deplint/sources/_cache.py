"""Scans kept between runs, by the content of the file: what has not changed is not parsed again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import cast

from seam.deplint.sources._record import Record

FORMAT = 1
"""Raise when a scan of the same bytes would come out differently."""

FOLDER = ".seam-deplint-cache"


def content_key(source: bytes) -> str:
    """The identity of a file's content."""
    return hashlib.blake2b(source, digest_size=16).hexdigest()


class ScanCache:
    """One JSON file per interpreter version, format and set of namespace roots. A damaged cache is an empty one."""

    def __init__(self, folder: Path | None, roots: frozenset[str]) -> None:
        version = f"{sys.version_info[0]}{sys.version_info[1]}"
        mark = hashlib.blake2b("\0".join(sorted(roots)).encode(), digest_size=4).hexdigest()
        self._folder = folder
        self._path = folder / f"scans-{FORMAT}-py{version}-{mark}.json" if folder else None
        self._known: dict[str, Record] = self._load()
        self._used: dict[str, Record] = {}
        self._fresh = False

    def _load(self) -> dict[str, Record]:
        if self._path is None:
            return {}
        try:
            loaded: object = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}  # absent or cut off by a full disk: everything is scanned again and written anew
        return cast("dict[str, Record]", loaded) if isinstance(loaded, dict) else {}

    def get(self, key: str) -> Record | None:
        """What is known of a content."""
        record = self._known.get(key)
        if record is not None:
            self._used[key] = record
        return record

    def put(self, key: str, record: Record) -> None:
        """Remember a scan."""
        self._used[key] = record
        self._fresh = True

    def save(self) -> None:
        """Write what this run used, replacing the file in one step; nothing is written when nothing is new."""
        if self._folder is None or self._path is None:
            return
        if not self._fresh and len(self._used) == len(self._known):
            return
        with contextlib.suppress(
            OSError
        ):  # a read-only checkout is checked all the same, only not faster next time
            self._folder.mkdir(exist_ok=True)
            ignore = self._folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", "utf-8")
            handle, name = tempfile.mkstemp(dir=self._folder, prefix="scans-")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(self._used, file, separators=(",", ":"))
            Path(name).replace(self._path)
