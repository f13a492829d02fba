"""Strings as the operating system has them: any bytes but NUL, kept through JSON and back."""

from __future__ import annotations

import os
from typing import Annotated
from urllib.parse import quote_from_bytes, unquote_to_bytes

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

_PREFIX = "bytes:"


def _validate_text(value: object) -> str:
    if isinstance(value, bytes):
        value = os.fsdecode(value)
    if not isinstance(value, str):
        raise ValueError(f"expected text, got {type(value).__name__}")
    if value.startswith(_PREFIX):
        value = os.fsdecode(unquote_to_bytes(value.removeprefix(_PREFIX)))
    if "\0" in value:
        raise ValueError("a NUL byte cannot be handed to a program; remove it")
    return value


def _validate_path(value: object) -> str:
    text = _validate_text(os.fspath(value) if isinstance(value, os.PathLike) else value)  # pyright: ignore[reportUnknownArgumentType] - PathLike has no run-time parameter
    if not text.startswith("/"):
        raise ValueError(f"expected an absolute path of the world, got {text!r}")
    return os.path.normpath(text) if not text.startswith("//") else os.path.normpath(text[1:])


def _serialise(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return _PREFIX + quote_from_bytes(os.fsencode(value))
    return _PREFIX + quote_from_bytes(value.encode("utf-8")) if value.startswith(_PREFIX) else value


Argument = Annotated[
    str,
    PlainValidator(_validate_text),
    PlainSerializer(_serialise, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string"}),
]
"""One argument or environment value. Undecodable bytes are surrogates (PEP 383); in JSON such a value is
written as `bytes:` and percent-encoded bytes. Never contains NUL."""

WorldPath = Annotated[
    str,
    PlainValidator(_validate_path),
    PlainSerializer(_serialise, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string"}),
]
"""An absolute path of the world without `.`, `..` and doubled slashes; undecodable bytes as in `Argument`."""
