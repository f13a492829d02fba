"""One layer of a deployment: a file, read and checked for its shape."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from pydantic import BaseModel, ValidationError

from seam.host._deployment import DeploymentProblem, Location
from seam.host._layer_shape import AgentTable, LayerFile, SeamTable
from seam.host._toml_lines import TomlPath, key_lines

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_CRASHED = (
    "a crash while it was written leaves a file like this; restore it from a copy or from version control"
)


class LayerRejected(Exception):
    """A layer cannot be used; `problems` says why. Never leaves this package: the whole deployment is refused."""

    def __init__(self, problems: Sequence[DeploymentProblem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Layer:
    """A file and what it says."""

    file: Path
    content: LayerFile
    lines: Mapping[TomlPath, int]

    def where(self, *path: str) -> Location:
        """Where a table or key stands, or the nearest one around it."""
        return locate(self.file, self.lines, path)


def locate(file: Path, lines: Mapping[TomlPath, int], path: TomlPath) -> Location:
    """The location of a path; its line is that of the nearest table or key around it that the file spells out."""
    line = next((lines[path[:depth]] for depth in range(len(path), 0, -1) if path[:depth] in lines), None)
    return Location(file=file, line=line, path=".".join(path))


def read_layer(file: Path, asked_by: Location | None) -> Layer:
    """Read one file.

    Args:
        file: absolute.
        asked_by: the `extends` that names it; None for the deployment itself.

    Raises:
        LayerRejected: it cannot be read, is not TOML, or has another shape than a deployment.
    """
    text = _text(file, asked_by)
    raw = _parse(file, text)
    lines = key_lines(text)
    try:
        content = LayerFile.model_validate(raw)
    except ValidationError as invalid:
        raise LayerRejected([_shape_problem(file, lines, raw, error) for error in _leaves(invalid)]) from None
    return Layer(file, content, lines)


def _text(file: Path, asked_by: Location | None) -> str:
    try:
        data = file.read_bytes()
    except OSError as error:
        what: dict[type[OSError], str] = {
            FileNotFoundError: "there is no such file",
            IsADirectoryError: "is a folder, not a file",
        }
        text = what.get(type(error), f"cannot be read: {error.strerror}")
        where = asked_by or Location(file=file)
        remedy = "" if asked_by else "name a deployment file, or write a first one with `seam init`"
        raise LayerRejected(
            [DeploymentProblem(where=where, text=f"{file}: {text}" if asked_by else text, remedy=remedy)]
        ) from None
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise _rejected(file, line, f"holds {data.count(0)} NUL bytes, so it is not a text file", _CRASHED)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _rejected(
            file, line, f"is not UTF-8: {error.reason} at byte {error.start}", "save it as UTF-8"
        ) from None
    if not text.strip():
        raise _rejected(file, 1, "is empty", _CRASHED)
    return text


def _parse(file: Path, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = _AT.search(message)
        at_end = found is not None and found.group(1) is None
        line = int(found.group(1)) if found is not None and found.group(1) else _last_line(text)
        plain = _AT.sub("", message)
        column = f" (column {found.group(2)})" if found is not None and found.group(2) else ""
        ends = ", where the file ends" if at_end else column
        cut = at_end or line >= _last_line(text)
        remedy = f"mend the line; if the file was cut off, {_CRASHED}" if cut else "mend the line"
        raise _rejected(file, line, f"is not valid TOML: {_lower(plain)}{ends}", remedy) from None


def _last_line(text: str) -> int:
    return max(1, len(text.rstrip("\r\n").splitlines()))


def _rejected(file: Path, line: int, text: str, remedy: str) -> LayerRejected:
    return LayerRejected([DeploymentProblem(where=Location(file=file, line=line), text=text, remedy=remedy)])


def _leaves(invalid: ValidationError) -> Iterable[tuple[TomlPath, str, str]]:
    for item in invalid.errors(include_url=False, include_context=False, include_input=False):
        yield tuple(str(part) for part in item["loc"] if part != "[key]"), item["type"], item["msg"]


def _shape_problem(
    file: Path, lines: Mapping[TomlPath, int], raw: dict[str, object], error: tuple[TomlPath, str, str]
) -> DeploymentProblem:
    path, kind, message = error
    where = locate(file, lines, path)
    if kind == "extra_forbidden":
        known = _known_words(path[:-1])
        return DeploymentProblem(
            where=where,
            text=f"there is no {path[-1]!r} here",
            remedy=_special(path) or suggestion(path[-1], known),
        )
    if kind == "string_pattern_mismatch":
        return DeploymentProblem(
            where=where,
            text=f"{path[-1]!r} is not a legal name"
            if path[-1] != "distribution"
            else "not the name of a distribution",
            remedy="letters, digits, `-` and `_`, starting with a letter or digit",
        )
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return DeploymentProblem(
            where=where, text="is a value, but a table belongs here", remedy=f"write [{'.'.join(path)}]"
        )
    return DeploymentProblem(where=where, text=_lower(message.removeprefix("Value error, ")))


def _special(path: TomlPath) -> str:
    if len(path) == 3 and path[0] == "agents" and path[2] == "consume":
        return "consumers are for all agents: write [consume.NAME]; an agent chooses implementers only"
    if path == ("serve",):
        return "doors live as long as the process: write [process.serve.NAME]"
    return ""


def _known_words(table: TomlPath) -> list[str]:
    model: type[BaseModel] = LayerFile
    if table[:1] == ("seam",):
        model = SeamTable
    elif table[:1] == ("agents",):
        model = AgentTable
    return list(model.model_fields)


def suggestion(word: str, known: Sequence[str]) -> str:
    """`did you mean ...` where something is close, else what there is."""
    close = get_close_matches(word, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known here: {', '.join(known)}" if known else ""


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
