"""A SKILL.md: front matter between two lines of three hyphens, then the document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from seam.tools_def import PresenceScope, Visibility

MAX_FILE_BYTES = 1024 * 1024
"""A skill is a document for a model; nothing of a larger file is read."""

_FENCE = re.compile(r"---[ \t]*\Z")


class BadSkill(Exception):
    """A file that is no skill. `line` is 1-based, or None for the file as a whole."""

    def __init__(self, line: int | None, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


class FrontMatter(BaseModel):
    """The fields of the public format, and Seam's visibility fields. Others are refused: a typo would hide a rule."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
    description: Annotated[str, Field(min_length=1, max_length=1024)]
    license: str | None = None
    compatibility: Annotated[str, Field(max_length=500)] | None = None
    metadata: dict[str, object] | None = None
    allowed_tools: str | list[str] | None = Field(default=None, alias="allowed-tools")
    version: str | float | None = None
    platforms: frozenset[str] = frozenset()
    scopes: frozenset[PresenceScope] = frozenset()
    permissions: frozenset[str] = frozenset()
    hidden: bool = False

    @property
    def visibility(self) -> Visibility:
        """Who sees it."""
        return Visibility(
            platforms=self.platforms, scopes=self.scopes, permissions=self.permissions, hidden=self.hidden
        )


@dataclass(frozen=True)
class Skill:
    """A skill that was read.

    Attributes:
        folder: where its other files lie.
        body: the document, without front matter.
    """

    folder: Path
    front: FrontMatter
    body: str


def read_skill(folder: Path) -> Skill:
    """Read `<folder>/SKILL.md`.

    Raises:
        BadSkill: it is not there, too large, not text, or its front matter is missing or wrong.
    """
    text = _text(folder / "SKILL.md")
    lines = text.splitlines()
    if not lines or not _FENCE.match(lines[0]):
        raise BadSkill(
            1,
            "there is no front matter; begin the file with a line `---`, then name and description, then `---`",
        )
    end = next((number for number, line in enumerate(lines[1:], 1) if _FENCE.match(line)), None)
    if end is None:
        raise BadSkill(1, "the front matter is not closed; end it with a line `---`")
    front = _fields(_parse("\n".join(lines[1:end])))
    if front.name != folder.name:
        raise BadSkill(
            _line_of(lines, "name"),
            f"name is {front.name!r}, the folder is {folder.name!r}; they must be the same",
        )
    return Skill(folder, front, "\n".join(lines[end + 1 :]).strip("\n") + "\n")


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadSkill(None, f"cannot be read: {error.strerror}") from error
    if len(data) > MAX_FILE_BYTES:
        raise BadSkill(
            None, f"is larger than {MAX_FILE_BYTES} bytes; put long material into other files of the folder"
        )
    try:
        # a byte order mark is no part of the text
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadSkill(line, f"is not UTF-8 text (byte {error.start})") from error
    if "\0" in text:
        raise BadSkill(text[: text.index("\0")].count("\n") + 1, "holds a NUL character; it is no text file")
    return text.replace("\r\n", "\n")


def _parse(text: str) -> dict[str, object]:
    try:
        found: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if isinstance(mark, yaml.Mark) else None
        raise BadSkill(
            line, f"the front matter is not YAML: {getattr(error, 'problem', None) or error}"
        ) from error
    except RecursionError as error:
        raise BadSkill(None, "the front matter is nested too deeply") from error
    if not isinstance(found, dict):
        raise BadSkill(2, "the front matter is not a list of `key: value` lines")
    return cast("dict[str, object]", found)


def _fields(found: dict[str, object]) -> FrontMatter:
    try:
        return FrontMatter.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise BadSkill(2, f"{name}: {first['msg'].lower()}") from error


def _line_of(lines: list[str], key: str) -> int | None:
    return next((number for number, line in enumerate(lines, 1) if line.startswith(f"{key}:")), None)
