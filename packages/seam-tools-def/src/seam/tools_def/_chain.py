"""The hash chain of a turn's entries: one way to compute it, so that every journal and every reader agree."""

from __future__ import annotations

import json
import json.encoder
from datetime import UTC, datetime
from typing import cast

from pydantic import BaseModel, TypeAdapter

from seam.tools_def._json import check_json, digest_of_text
from seam.tools_def._records import Record

record_adapter: TypeAdapter[Record] = TypeAdapter(Record)


def record_text(record: Record) -> str:
    """The one text of a record: JSON on one line, sorted keys, ASCII only, so that no reader splits it and lone surrogates survive.

    Raises:
        NotSerialisable: it holds something that JSON has not; the message names the place.
    """
    try:
        return _encode(record.__dict__)
    except (TypeError, ValueError, RecursionError):
        check_json(record.model_dump(warnings=False))  # says where
        raise


def _plain(value: object) -> object:
    # a value inside a record is written as its fields; pydantic's own dump comes to the same at twice the price
    if isinstance(value, BaseModel):
        return value.__dict__
    if isinstance(value, frozenset):
        return sorted(cast("frozenset[str]", value))
    raise TypeError(f"{type(value).__name__} is not JSON")


_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False, default=_plain
).encode


def record_of(text: str) -> Record:
    """The record that `record_text` wrote.

    Raises:
        pydantic.ValidationError: it is not a record of this version.
        ValueError: it is not JSON.
    """
    return record_adapter.validate_python(json.loads(text))


def entry_hash(turn: str, sequence: int, time: datetime, record: str, previous: str) -> str:
    """SHA-256 that binds a record to its place, as `sha256:<hex>`.

    Args:
        turn: id of the turn.
        sequence: 0-based.
        time: aware; microseconds are kept.
        record: `record_text` of the record.
        previous: hash of the entry before it; for the first one the turn's anchor, which is the journal's to choose.
    """
    # the place as a JSON array, so that no two places have one text
    when = time.astimezone(UTC).isoformat(timespec="microseconds")
    place = f'[{_text(previous)}, {_text(turn)}, {sequence}, "{when}"]'
    return digest_of_text(f"{place}\n{record}")


_text = json.encoder.encode_basestring_ascii
