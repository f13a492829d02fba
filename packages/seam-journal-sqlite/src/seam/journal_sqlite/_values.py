"""Large values, in files that are named by the digest of their content."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from seam.tools_def import canonical_json

STAY = frozenset({"kind", "call", "tool", "agent", "session"})
"""Fields that a query asks for; they stay in the record."""


class ValueLost(Exception):
    """A value's file is missing, or its content is not what its name says."""


@dataclass(frozen=True)
class MovedValue:
    """A value that left its record."""

    place: str
    digest: bytes
    text: str


def part(text: str, limit: int) -> tuple[str, tuple[MovedValue, ...]]:
    """Move the largest values out of a record's text until it is no longer than `limit`; null stays in their place.

    A place is the name of a field, or `outcome.` and the name of a field.
    """
    if len(text) <= limit:
        return text, ()
    document: dict[str, JsonValue] = json.loads(text)
    size = len(text)
    moved: list[MovedValue] = []
    for length, place, value in sorted(_candidates(document), key=lambda found: (-found[0], found[1])):
        if size <= limit:
            break
        put(document, place, None)
        size -= length
        moved.append(MovedValue(place, hashlib.sha256(value.encode("ascii")).digest(), value))
    return canonical_json(document), tuple(moved)


def _candidates(document: Mapping[str, JsonValue]) -> list[tuple[int, str, str]]:
    found: list[tuple[int, str, str]] = []
    for name, value in document.items():
        if name == "outcome" and isinstance(value, dict):
            found += [(len(text), f"outcome.{inner}", text) for _, inner, text in _candidates(value)]
        elif name not in STAY:
            text = canonical_json(value)
            found.append((len(text), name, text))
    return found


def put(document: dict[str, JsonValue], place: str, value: JsonValue) -> None:
    """Put a value into a record's document.

    Raises:
        ValueLost: there is no such place in it.
    """
    outer, _, inner = place.partition(".")
    target = document if not inner else document.get(outer)
    name = inner or outer
    if not isinstance(target, dict) or name not in target:
        raise ValueLost(f"the record has no place {place!r} for the value that was moved from there")
    target[name] = value


class ValueFolder:
    """The folder of values; files are 0600 and durable when `keep` returns."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, value: MovedValue) -> None:
        """Write it unless it is there.

        Raises:
            OSError: it cannot be written.
        """
        file = self._file(value.digest)
        if file.exists():
            return
        temporary = self._folder / f".{secrets.token_hex(8)}"
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as written:
                written.write(value.text.encode("ascii"))
                written.flush()
                os.fsync(written.fileno())
            temporary.replace(file)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)  # the name, too
        finally:
            os.close(folder)

    def load(self, digest: bytes) -> JsonValue:
        """The value.

        Raises:
            ValueLost: it is not there, or not what it was.
        """
        file = self._file(digest)
        try:
            content = file.read_bytes()
        except OSError as error:
            raise ValueLost(f"the file of a large value cannot be read: {error}") from error
        if hashlib.sha256(content).digest() != digest:
            raise ValueLost(f"the file of a large value was changed: {file}")
        value: JsonValue = json.loads(content)
        return value

    def remove(self, digest: bytes) -> None:
        """Remove it; nothing happens where it is gone already."""
        self._file(digest).unlink(missing_ok=True)

    def _file(self, digest: bytes) -> Path:
        return self._folder / digest.hex()
