"""Lines of keys, against documents whose lines are known."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seam.host._toml_lines import key_lines

WORDS = st.text(alphabet="abcé-_ .#=[]\"'", min_size=1, max_size=6)
VALUES = st.recursive(
    st.one_of(st.integers(-5, 5), st.booleans(), st.text(alphabet="ab#=[]{}\"'\\\n ", max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=2)),
    max_leaves=5,
)


def written(value: object, style: int) -> str:
    """A value as TOML, strings in one of three styles, arrays over several lines."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case str():
            if style == 1 and "'" not in value and "\n" not in value:
                return f"'{value}'"
            if style == 2:
                escaped = value.replace("\\", "\\\\").replace('"', '\\"')
                return f'"""\n{escaped}"""'
            return json.dumps(value, ensure_ascii=False)
        case list():
            items = cast("list[object]", value)
            return "[ # a list\n" + "".join(f"  {written(item, style)}, # ]\n" for item in items) + "]"
        case dict():
            pairs = cast("dict[str, object]", value).items()
            return "{" + ", ".join(f"{json.dumps(key)} = {written(item, 0)}" for key, item in pairs) + "}"
        case _:
            raise AssertionError(value)


def flat(value: object) -> object:
    """A value whose inline tables hold nothing over several lines: TOML 1.0 does not permit that."""
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return {key: item for key, item in pairs if isinstance(item, (int, str))}
    return [flat(item) for item in cast("list[object]", value)] if isinstance(value, list) else value


@given(
    st.dictionaries(
        st.lists(WORDS, min_size=1, max_size=2).map(tuple),
        st.dictionaries(WORDS, VALUES, max_size=3),
        max_size=3,
    ),
    st.integers(0, 2),
    st.booleans(),
)
def test_every_key_has_the_line_on_which_it_was_written(
    tables: Mapping[tuple[str, ...], Mapping[str, object]], style: int, windows: bool
) -> None:
    lines: list[str] = ["# a comment = [x]"]
    expected: dict[tuple[str, ...], int] = {}
    for path, values in tables.items():
        lines += ["", "  # [not a table]"]
        lines.append(
            f"  [ {' . '.join(json.dumps(part, ensure_ascii=False) for part in path)} ]  # comment = 1"
        )
        expected[path] = len(lines)
        for key, value in values.items():
            lines += (f"{json.dumps(key, ensure_ascii=False)}  =  {written(flat(value), style)} # = [").split(
                "\n"
            )
            expected[(*path, key)] = len(lines) - written(flat(value), style).count("\n")
    text = "\n".join(lines)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return  # two headers that contradict each other; only what the parser accepts is asked about
    found = key_lines(text.replace("\n", "\r\n") if windows else text)
    assert {path: found.get(path) for path in expected} == expected


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a.b = 1\n", ("a", "b"), 1),
        ("a.b = 1\n", ("a",), 1),
        ("x = '''\n[t]\ny = 2\n'''\n[t]\n", ("t",), 5),
        ('x = """a\\""" b\n[no]\n"""\n[t]\n', ("t",), 4),
        ("[a.b]\nk = 1\n[a]\nz = 1\n", ("a",), 3),
        ("[[a]]\nk = 1\n[[a]]\nk = 2\n", ("a", "k"), 2),
        ("a = [\n {b = '}'},\n]\nc = 1", ("c",), 4),
    ],
)
def test_lines_of_odd_but_legal_documents(text: str, path: tuple[str, ...], line: int) -> None:
    tomllib.loads(text)
    assert key_lines(text)[path] == line
