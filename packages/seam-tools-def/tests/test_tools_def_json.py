"""One text for one value, and values that nobody can change."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from seam.tools_def import (
    CallSettled,
    Completed,
    FrozenDict,
    FrozenList,
    NotSerialisable,
    Text,
    canonical_json,
    digest_of,
    entry_hash,
    frozen_json,
    record_of,
    record_text,
)
from seam.tools_def._json import check_json

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    # lone surrogates included: tools hand on what they read
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_canonical_json_reads_back_equal_and_is_one_line_of_ascii(value: JsonValue) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert "\n" not in text
    assert "\r" not in text


@given(st.dictionaries(st.text(max_size=5), st.integers(), max_size=6))
def test_the_order_of_keys_does_not_change_the_digest(value: dict[str, int]) -> None:
    assert digest_of(value) == digest_of(dict(reversed(list(value.items()))))


class Strange:
    """Not JSON."""


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a": [1, {2}]}, "$.a[1]"),
        ({"a": float("nan")}, "$.a"),
        ([float("inf")], "$[0]"),
        ({"a": {1: 2}}, "$.a"),
        ({"b": b"bytes"}, "$.b"),
        ({"c": Strange()}, "$.c"),
        ({"n": 1 << 5000}, "$.n"),
    ],
)
def test_what_is_not_json_is_named_by_its_place(value: object, place: str) -> None:
    for step in (canonical_json, check_json, frozen_json, digest_of):
        with pytest.raises(NotSerialisable) as caught:
            step(value)
        assert caught.value.facts["place"] == place


def test_nesting_without_end_is_refused_not_a_crash() -> None:
    endless: list[object] = []
    endless.append(endless)
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    for value in (endless, deep):
        for step in (canonical_json, frozen_json):
            with pytest.raises(NotSerialisable, match="nested deeper than 100 levels"):
                step(value)


@given(JSON)
def test_t_48_a_frozen_copy_is_equal_and_refuses_every_change(value: JsonValue) -> None:
    frozen = frozen_json(value)
    assert frozen == value
    assert canonical_json(frozen) == canonical_json(value)
    if isinstance(frozen, FrozenDict):
        for change in ("clear", "popitem"):
            with pytest.raises(TypeError, match="cannot be changed"):
                getattr(frozen, change)()
        with pytest.raises(TypeError, match="cannot be changed"):
            frozen["new"] = 1
        with pytest.raises(TypeError, match="cannot be changed"):
            frozen |= {"new": 1}
    if isinstance(frozen, FrozenList):
        for change in ("clear", "pop", "sort", "reverse"):
            with pytest.raises(TypeError, match="cannot be changed"):
                getattr(frozen, change)()
        with pytest.raises(TypeError, match="cannot be changed"):
            frozen.append(1)
        with pytest.raises(TypeError, match="cannot be changed"):
            frozen += [1]


def test_a_frozen_value_is_cut_off_from_its_original_and_copies_as_a_value() -> None:
    original: dict[str, JsonValue] = {"list": [1]}
    frozen = frozen_json(original)
    original["list"] = "changed"
    assert frozen == {"list": [1]}
    assert copy.copy(frozen) is frozen
    assert copy.deepcopy(frozen) is frozen
    thawed = pickle.loads(pickle.dumps(frozen))
    assert type(thawed) is dict
    assert thawed == frozen


@given(JSON, st.text(st.characters(exclude_categories=())))
def test_pi_020_a_record_is_one_line_and_reads_back_equal(value: JsonValue, text: str) -> None:
    nasty = text + "\n\r\u2028\x85\0\udcff"
    record = CallSettled(
        call=nasty,
        tool="t",
        outcome=Completed(value={"k" + nasty: value}, content=(Text(text=nasty),)),
        ran=True,
        seconds=0.5,
    )
    line = record_text(record)
    assert len(line.splitlines()) == 1
    assert record_of(line) == record


def test_a_trusted_value_is_what_validation_would_have_made() -> None:
    fields = {"call": "c", "tool": "t", "outcome": Completed(), "ran": True, "seconds": 0.5}
    validated, trusted = CallSettled.model_validate(fields), CallSettled.trusted(**fields)
    assert trusted == validated
    assert hash(trusted) == hash(validated)
    assert repr(trusted) == repr(validated)
    assert trusted.model_dump() == validated.model_dump()
    assert trusted.model_dump_json() == validated.model_dump_json()
    assert trusted.model_fields_set == validated.model_fields_set
    assert record_text(trusted) == record_text(validated)
    assert trusted.model_copy(update={"detail": "d"}) == validated.model_copy(update={"detail": "d"})
    assert copy.deepcopy(trusted) == pickle.loads(pickle.dumps(trusted)) == validated
    with pytest.raises(ValidationError, match="frozen"):
        trusted.ran = False  # pyright: ignore[reportAttributeAccessIssue]
    frozen = frozen_json({"a": [1]})
    assert Completed.trusted(value=frozen).value is frozen


def test_an_entry_hash_binds_every_part() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    base = entry_hash("t", 0, moment, "{}", "sha256:0")
    others = [
        entry_hash("t ", 0, moment, "{}", "sha256:0"),
        entry_hash("t", 1, moment, "{}", "sha256:0"),
        entry_hash("t", 0, moment + timedelta(microseconds=1), "{}", "sha256:0"),
        entry_hash("t", 0, moment, "[]", "sha256:0"),
        entry_hash("t", 0, moment, "{}", "sha256:1"),
    ]
    assert len({base, *others}) == 6
    assert base == entry_hash("t", 0, moment.astimezone(timezone(timedelta(hours=2))), "{}", "sha256:0")
