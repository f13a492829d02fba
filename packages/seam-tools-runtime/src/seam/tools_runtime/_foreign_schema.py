"""JSON Schemas from outside: checked once, in prepare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from pydantic import JsonValue

from seam.tools_def import NotSerialisable, canonical_json, local_target
from seam.tools_runtime._problems import LONGEST, cut

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def validator(schema: JsonValue) -> Validator:
    """A validator by the schema's own `$schema`, else by 2020-12. The schema was checked before."""
    known = cast("dict[str, object]", schema)
    return validator_for(known, default=Draft202012Validator)(known)  # pyright: ignore[reportUnknownVariableType, reportCallIssue, reportUnknownMemberType, reportArgumentType] - jsonschema has no types


def schema_problem(schema: object, what: str, *, limit: int, of_object: bool) -> str | None:
    """Why something cannot serve as the schema of a tool, or None.

    Args:
        schema: what the provider stated.
        what: `parameters` or `output`, for the sentence.
        limit: bytes of its canonical JSON.
        of_object: whether it must describe an object.
    """
    try:
        size = len(canonical_json(schema))
    except NotSerialisable as problem:
        return f"{what} is not JSON: {problem}"
    if size > limit:
        return f"{what} is a schema of {size} bytes; at most {limit} are taken"
    if not isinstance(schema, dict):
        return f"{what} is not a JSON Schema object but a {type(schema).__name__}"
    schema = cast("dict[str, JsonValue]", schema)
    if of_object and schema.get("type") != "object":
        return f'{what} must be a schema with "type": "object", and has {schema.get("type")!r}'
    return _invalid(schema, what) or _unresolved(schema, what) or _endless(schema, what)


def _invalid(schema: dict[str, JsonValue], what: str) -> str | None:
    try:
        type(validator(schema)).check_schema(schema)
    except SchemaError as error:
        place = ".".join(map(str, error.absolute_path)) or "(whole)"
        return f"{what} is not a valid JSON Schema at {place}: {cut(error.message, LONGEST)}"
    except RecursionError:
        return f"{what} is nested too deeply"
    return None


def _unresolved(schema: dict[str, JsonValue], what: str) -> str | None:
    for reference in _references(schema):
        if not reference.startswith("#"):
            return f"{what} refers to {reference!r}; only references within the schema (#/...) are followed"
        if reference.startswith("#/") and local_target(schema, reference) is None:
            return f"{what} refers to {reference!r}, which is not in it"
    return None


def _references(schema: JsonValue) -> Iterator[str]:
    if isinstance(schema, list):
        for item in schema:
            yield from _references(item)
    elif isinstance(schema, dict):
        for key, item in schema.items():
            if key in _REFERENCES and isinstance(item, str):
                yield item
            else:
                yield from _references(item)


def _endless(schema: dict[str, JsonValue], what: str) -> str | None:
    try:
        validator(schema).is_valid({})
    except RecursionError:
        return f"{what} refers to itself without end"
    except (
        Exception
    ) as error:  # a broken pattern, an anchor that does not exist: whatever the library finds on use
        return f"{what} cannot be used: {type(error).__name__}: {cut(str(error), LONGEST)}"
    return None
