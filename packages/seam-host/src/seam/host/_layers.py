"""The layers of a deployment, lowest first."""

from __future__ import annotations

import os
from pathlib import Path

from seam.host._deployment import DeploymentProblem, Location
from seam.host._layer import Layer, LayerRejected, read_layer


def read_layers(path: Path) -> tuple[list[Layer], list[DeploymentProblem]]:
    """Every layer that `path` stands on, then `path` itself; and what is wrong with any of them.

    A file that several layers extend is applied once, where it is first met.
    """
    stack = _Stack()
    stack.visit(absolute(path), None)
    return list(stack.layers.values()), stack.problems


def absolute(path: Path) -> Path:
    """Absolute, without `..`; links are kept, so that paths in a file start where it was found, not where its content lies."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - Path.absolute keeps `..`, Path.resolve follows links


class _Stack:
    def __init__(self) -> None:
        self.layers: dict[Path, Layer] = {}
        self.problems: list[DeploymentProblem] = []
        self._open: dict[Path, str] = {}
        self._seen: set[Path] = set()

    def visit(self, file: Path, asked_by: Location | None) -> None:
        """Read a file after everything that it stands on; a link is the file that it leads to."""
        identity = file.resolve()
        if identity in self._open and asked_by is not None:
            names = list(self._open.values())[list(self._open).index(identity) :]
            self.problems.append(
                DeploymentProblem(
                    where=asked_by,
                    text=f"the layers extend each other in a circle: {' -> '.join([*names, file.name])}",
                    remedy="take one of these `extends` out",
                )
            )
            return
        if identity in self._seen:
            return
        self._seen.add(identity)
        try:
            layer = read_layer(file, asked_by)
        except LayerRejected as rejected:
            self.problems += rejected.problems
            return
        self._open[identity] = file.name
        for base in layer.content.seam.extends:
            self.visit(absolute(file.parent / base), layer.where("seam", "extends"))
        del self._open[identity]
        self.layers[file] = layer
