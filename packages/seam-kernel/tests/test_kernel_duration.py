"""Durations in configuration."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from seam.kernel import Seconds

SECONDS: TypeAdapter[float] = TypeAdapter(Seconds)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("2m", 120.0),
        ("1h30m", 5400.0),
        ("1.5s", 1.5),
        ("250ms", 0.25),
        ("1d", 86400.0),
        ("1m 5s", 65.0),
        (7, 7.0),
        (0.5, 0.5),
    ],
    ids=repr,
)
def test_a_duration_is_seconds_or_text_with_units(given: object, seconds: float) -> None:
    assert SECONDS.validate_python(given) == pytest.approx(seconds)


@pytest.mark.parametrize("given", ["", "120", "2 minutes", "m", "-1s", "1m and", None], ids=repr)
def test_anything_else_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        SECONDS.validate_python(given)
