"""Which line of a TOML file says what. The standard parser gives values only; this finds where each key stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import cast

TomlPath = tuple[str, ...]

# what a value or key can hide a bracket, an equals sign or a line end in
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{}=\n]"
    r"|[^\[\]{}=\n\"'#]+",
    re.DOTALL,
)


def key_lines(text: str) -> Mapping[TomlPath, int]:
    """The 1-based line of each table and key of a document that `tomllib` accepts; keys inside inline tables are not listed.

    A table without a header of its own has the line of the first thing in it. Keys of an array of tables stand without their index.
    """
    written: dict[TomlPath, int] = {}
    implied: dict[TomlPath, int] = {}
    table: TomlPath = ()
    for line, kind, source in _statements(text):
        path = _key(source)
        if kind == "table":
            table = whole = path
        else:
            whole = (*table, *path)
        written.setdefault(whole, line)
        for depth in range(1, len(whole)):
            implied.setdefault(whole[:depth], line)
    return implied | written


def _statements(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, `table` or `key`, source text of the header or key) for each header and assignment."""
    line, start, depth, source, value = 1, 1, 0, "", False
    for match in _TOKEN.finditer(text.replace("\r\n", "\n")):
        token = match.group()
        if token == "\n" and depth == 0:
            if source.strip() and not value:
                yield start, "table", source.strip().strip("[]")
            source, value = "", False
        elif token == "=" and not value:
            yield start, "key", source.strip()
            value = True
        elif value:
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token, 0)
        elif not token.startswith("#"):
            if not source.strip():
                start = line
            source += token
        line += token.count("\n")
    if source.strip() and not value:
        yield start, "table", source.strip().strip("[]")


def _key(source: str) -> TomlPath:
    parsed: object = tomllib.loads(f"{source} = 0")
    path: list[str] = []
    while isinstance(parsed, dict):
        ((name, parsed),) = cast("dict[str, object]", parsed).items()
        path.append(name)
    return tuple(path)
