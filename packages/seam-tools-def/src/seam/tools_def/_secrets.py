"""Secrets that a schema declares, and values without them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

from pydantic import JsonValue

REDACTED = "[redacted]"
"""What stands in the place of a declared secret."""

_NESTED = ("anyOf", "oneOf", "allOf")
_CONDITIONAL = ("if", "then", "else")


def has_secrets(schema: JsonValue) -> bool:
    """Whether a JSON Schema declares a secret anywhere (`writeOnly: true` or `format: password`, as pydantic's `SecretStr` does)."""
    if isinstance(schema, list):
        return any(has_secrets(item) for item in schema)
    if not isinstance(schema, dict):
        return False
    return _is_secret(schema) or any(has_secrets(item) for item in schema.values())


def redact(value: JsonValue, schema: JsonValue) -> JsonValue:
    """The value with every secret that the schema declares replaced, also behind local references and in recursive schemas.

    A value that does not fit the schema is redacted where the schema speaks of it. The value itself is not changed.
    """
    return _Redaction(schema).apply(value, schema, frozenset())


def _is_secret(schema: Mapping[str, JsonValue]) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


class _Redaction:
    def __init__(self, root: JsonValue) -> None:
        self._root = root

    def apply(self, value: JsonValue, schema: JsonValue, followed: frozenset[str]) -> JsonValue:
        """`followed` holds the references taken since the value was last descended into: a loop of them ends."""
        if not isinstance(schema, dict):
            return value
        if _is_secret(schema):
            return None if value is None else REDACTED
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in followed:
            value = self.apply(value, local_target(self._root, reference), followed | {reference})
        for option in _options(schema):
            value = self.apply(value, option, followed)
        if isinstance(value, dict):
            return {key: self._property(key, item, schema) for key, item in value.items()}
        if isinstance(value, list):
            return [self._item(place, item, schema) for place, item in enumerate(value)]
        return value

    def _property(self, key: str, item: JsonValue, schema: Mapping[str, JsonValue]) -> JsonValue:
        named, patterns = schema.get("properties"), schema.get("patternProperties")
        options = [named[key]] if isinstance(named, dict) and key in named else []
        if isinstance(patterns, dict):
            options += [option for pattern, option in patterns.items() if re.search(pattern, key)]
        for option in options or [schema.get("additionalProperties")]:
            item = self.apply(item, option, frozenset())
        return item

    def _item(self, place: int, item: JsonValue, schema: Mapping[str, JsonValue]) -> JsonValue:
        first = schema.get("prefixItems")
        option = first[place] if isinstance(first, list) and place < len(first) else schema.get("items")
        return self.apply(item, option, frozenset())


def _options(schema: Mapping[str, JsonValue]) -> list[JsonValue]:
    found = [schema.get(word) for word in _CONDITIONAL]
    for word in _NESTED:
        options = schema.get(word)
        if isinstance(options, list):
            found += options
    return found


def local_target(root: JsonValue, reference: str) -> JsonValue:
    """What a local reference (`#`, or `#/...` as a JSON pointer, RFC 6901) points at; None where it points at nothing."""
    if not reference.startswith("#"):
        return None
    target = root
    for step in reference[1:].split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict):
            target = target.get(name)
        elif isinstance(target, list) and name.isdigit() and int(name) < len(target):
            target = target[int(name)]
        else:
            return None
    return target
