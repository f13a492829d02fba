"""What was read, kept between runs by the content of the file: what has not changed is not parsed again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import cast

FORMAT = 3
"""Raise when the same bytes would be read differently."""

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
        self._known: dict[str, object] = self._load()
        self._used: dict[str, object] = {}
        self._fresh = False

    def _load(self) -> dict[str, object]:
        if self._path is None:
            return {}
        try:
            loaded: object = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}  # absent or cut off by a full disk: everything is scanned again and written anew
        return cast("dict[str, object]", loaded) if isinstance(loaded, dict) else {}

    def get(self, key: str) -> object | None:
        """What is known of a content."""
        record = self._known.get(key)
        if record is not None:
            self._used[key] = record
        return record

    def put(self, key: str, record: object) -> None:
        """Remember what was read."""
        self._fresh = self._fresh or key not in self._known
        self._used[key] = record

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
            written = self._folder / f"{self._path.stem}.{os.getpid()}.tmp"
            written.write_text(json.dumps(self._used, separators=(",", ":")), "utf-8")
            written.replace(self._path)
