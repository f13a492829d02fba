"""Declared secrets are found wherever the schema puts them."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, JsonValue, SecretStr

from seam.tools_def import REDACTED, has_secrets, local_target, parameters_schema, redact


class Login(BaseModel):
    user: str
    password: SecretStr


class Node(BaseModel):
    token: SecretStr | None = None
    children: list[Node] = []


class Everything(BaseModel):
    login: Login
    logins: list[Login] = []
    by_host: dict[str, Login] = {}
    either: Login | int = 0
    pair: tuple[str, SecretStr] = ("", SecretStr(""))
    tree: Node | None = None
    password: str = "a plain field that is only called so"


LOGIN: JsonValue = {"user": "ann", "password": "hunter2"}
HIDDEN: JsonValue = {"user": "ann", "password": REDACTED}


def test_t_95_secrets_are_redacted_behind_references_lists_maps_unions_and_recursion() -> None:
    schema = parameters_schema(Everything)
    assert has_secrets(schema)
    given: JsonValue = {
        "login": LOGIN,
        "logins": [LOGIN, LOGIN],
        "by_host": {"a": LOGIN},
        "either": LOGIN,
        "pair": ["shown", "hunter2"],
        "tree": {"token": "hunter2", "children": [{"token": "hunter2", "children": []}, {"token": None}]},
        "password": "plain",
    }
    assert redact(given, schema) == {
        "login": HIDDEN,
        "logins": [HIDDEN, HIDDEN],
        "by_host": {"a": HIDDEN},
        "either": HIDDEN,
        "pair": ["shown", REDACTED],
        "tree": {"token": REDACTED, "children": [{"token": REDACTED, "children": []}, {"token": None}]},
        "password": "plain",
    }
    assert "hunter2" in str(given)


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"patternProperties": {"^secret_": {"writeOnly": True}}}, {"secret_a": 1, "b": 2}, {"secret_a": REDACTED, "b": 2}),
        ({"allOf": [{"properties": {"a": {"format": "password"}}}]}, {"a": "x"}, {"a": REDACTED}),
        ({"if": {}, "then": {"properties": {"a": {"writeOnly": True}}}}, {"a": "x"}, {"a": REDACTED}),
        ({"$ref": "#"}, {"a": 1}, {"a": 1}),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"writeOnly": True}}}, "x", REDACTED),
        ({"$ref": "https://elsewhere/"}, "x", "x"),
        ({"properties": {"a": {"writeOnly": True}}}, ["not", "an", "object"], ["not", "an", "object"]),
        (True, {"a": 1}, {"a": 1}),
    ],
)  # fmt: skip
def test_odd_schemas_are_followed_without_end_or_error(
    schema: JsonValue, value: JsonValue, expected: JsonValue
) -> None:
    assert redact(value, schema) == expected


def test_a_schema_without_secrets_is_known_as_such() -> None:
    assert not has_secrets({"properties": {"format": {"type": "string"}, "writeOnly": {"type": "boolean"}}})


def test_local_references_lead_through_lists_and_to_nothing() -> None:
    root: JsonValue = {"a": [{"b c": 1}]}
    assert local_target(root, "#/a/0/b%20c") == 1
    assert local_target(root, "#") == root
    assert local_target(root, "#/a/9") is None
    assert local_target(root, "#/a/0/b%20c/d") is None
