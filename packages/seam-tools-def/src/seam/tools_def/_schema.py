"""JSON Schemas of parameter models, in one canonical form."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, JsonValue


def parameters_schema(
    model: type[BaseModel], *, mode: Literal["validation", "serialization"] = "validation"
) -> JsonValue:
    """JSON Schema (2020-12) of a model without the titles that pydantic derives from names: they only cost tokens."""
    schema: JsonValue = model.model_json_schema(mode=mode)
    return _without_titles(schema)


def _without_titles(value: JsonValue, *, names: bool = False) -> JsonValue:
    # `names` is True where the keys of an object are names of properties, so that a property called `title` stays
    if isinstance(value, list):
        return [_without_titles(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_titles(item, names=not names and key in ("properties", "$defs", "patternProperties"))
        for key, item in value.items()
        if names or key != "title" or not isinstance(item, str)
    }


def secret_paths(schema: JsonValue) -> frozenset[tuple[str, ...]]:
    """Paths of the properties that a schema declares secret (`writeOnly: true` or `format: password`, as `SecretStr` does)."""
    found: set[tuple[str, ...]] = set()
    _collect_secrets(schema, (), found)
    return frozenset(found)


def _collect_secrets(schema: JsonValue, path: tuple[str, ...], found: set[tuple[str, ...]]) -> None:
    if not isinstance(schema, dict):
        return
    if path and (schema.get("writeOnly") is True or schema.get("format") == "password"):
        found.add(path)
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for name, item in properties.items():
            _collect_secrets(item, (*path, name), found)
    _collect_secrets(schema.get("items"), (*path, "*"), found)
    for word in ("anyOf", "oneOf", "allOf"):
        options = schema.get(word)
        if isinstance(options, list):
            for option in options:
                _collect_secrets(option, path, found)


REDACTED = "[redacted]"


def redact(value: JsonValue, paths: frozenset[tuple[str, ...]]) -> JsonValue:
    """The value with every declared secret replaced; `*` in a path stands for each item of a list."""
    for path in paths:
        value = _redact_one(value, path)
    return value


def _redact_one(value: JsonValue, path: tuple[str, ...]) -> JsonValue:
    if not path:
        return REDACTED if value is not None else None
    if path[0] == "*" and isinstance(value, list):
        return [_redact_one(item, path[1:]) for item in value]
    if isinstance(value, dict) and path[0] in value:
        return {key: _redact_one(item, path[1:]) if key == path[0] else item for key, item in value.items()}
    return value
