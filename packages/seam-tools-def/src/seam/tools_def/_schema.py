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
