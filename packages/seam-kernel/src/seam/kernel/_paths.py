"""Paths in a plugin's configuration that start at the deployment file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

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
    """The fields of a configuration model that are such paths."""
    return {
        field.alias or name: mark
        for name, field in model.model_fields.items()
        for mark in field.metadata
        if isinstance(mark, PathMark)
    }
