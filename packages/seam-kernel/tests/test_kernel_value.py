"""The base of values: frozen, closed, and cheap for those who know that the fields are right."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from seam.kernel import Value


class Inner(Value):
    data: bytes = b""


class Outer(Value):
    name: str
    inner: Inner = Inner()
    tags: tuple[str, ...] = ()


def test_a_value_cannot_be_changed_and_refuses_what_it_does_not_know() -> None:
    value = Outer(name="a")
    with pytest.raises(ValidationError, match="frozen"):
        value.name = "b"  # pyright: ignore[reportAttributeAccessIssue] - that is what is tested
    with pytest.raises(ValidationError, match="Extra inputs"):
        Outer.model_validate({"name": "a", "colour": "red"})


def test_bytes_of_any_kind_survive_json() -> None:
    value = Outer(name="a", inner=Inner(data=b"\x00\xff"))
    assert Outer.model_validate_json(value.model_dump_json()) == value


def test_a_trusted_value_is_equal_to_a_validated_one_and_behaves_like_it() -> None:
    trusted = Outer.trusted(name="a", tags=("x",))
    validated = Outer(name="a", tags=("x",))
    assert trusted == validated
    assert hash(trusted) == hash(validated)
    assert trusted.model_fields_set == validated.model_fields_set
    assert trusted.model_dump() == validated.model_dump()
    assert trusted.model_copy(update={"name": "b"}) == Outer(name="b", tags=("x",))
    with pytest.raises(ValidationError, match="frozen"):
        trusted.name = "b"  # pyright: ignore[reportAttributeAccessIssue] - that is what is tested
