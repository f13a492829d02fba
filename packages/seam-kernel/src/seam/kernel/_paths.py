"""Paths in a plugin's configuration that start at the deployment file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias, get_args

from pydantic import BaseModel


@dataclass(frozen=True)
class PathMark:
    """Marks a field as a path of the host's machine that starts at the folder of the deployment file.

    Attributes:
        watched: what lies there belongs to the configuration: when it changes, the plugin is rebuilt.
    """

    watched: bool


DeploymentPath: TypeAlias = Annotated[Path, PathMark(watched=False)]
"""A path in a configuration model; the host makes a relative one absolute before the model sees it."""

WatchedPath: TypeAlias = Annotated[Path, PathMark(watched=True)]
"""As `DeploymentPath`; a change of the file, or of anything in the folder, rebuilds the plugin."""


def deployment_paths(model: type[BaseModel]) -> Mapping[str, PathMark]:
    """The fields of a configuration model that are such paths, optional ones too."""
    found: dict[str, PathMark] = {}
    for name, field in model.model_fields.items():
        mark = next(_marks((*field.metadata, field.annotation)), None)
        if mark is not None:
            found[field.alias or name] = mark
    return found


def _marks(parts: Iterable[object]) -> Iterator[PathMark]:
    for part in parts:
        if isinstance(part, PathMark):
            yield part
        else:
            # in `DeploymentPath | None` the mark stands inside the union
            yield from _marks(get_args(part))
