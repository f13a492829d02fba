"""The layers of a deployment, lowest first."""

from __future__ import annotations

from pathlib import Path

from seam.host._deployment import DeploymentProblem, Location
from seam.host._layer import Layer, LayerRejected, read_layer


def read_layers(path: Path) -> tuple[list[Layer], list[DeploymentProblem]]:
    """Every layer that `path` stands on, then `path` itself; and what is wrong with any of them.

    A file that several layers extend is applied once, where it is first met.
    """
    stack = _Stack()
    stack.visit(path.resolve(), None)
    return list(stack.layers.values()), stack.problems


class _Stack:
    def __init__(self) -> None:
        self.layers: dict[Path, Layer] = {}
        self.problems: list[DeploymentProblem] = []
        self._open: list[Path] = []
        self._seen: set[Path] = set()

    def visit(self, file: Path, asked_by: Location | None) -> None:
        if file in self._open and asked_by is not None:
            names = [step.name for step in (*self._open[self._open.index(file) :], file)]
            self.problems.append(
                DeploymentProblem(
                    where=asked_by,
                    text=f"the layers extend each other in a circle: {' -> '.join(names)}",
                    remedy="take one of these `extends` out",
                )
            )
            return
        if file in self._seen:
            return
        self._seen.add(file)
        try:
            layer = read_layer(file, asked_by)
        except LayerRejected as rejected:
            self.problems += rejected.problems
            return
        self._open.append(file)
        for base in layer.content.seam.extends:
            self.visit((file.parent / base).resolve(), layer.where("seam", "extends"))
        self._open.pop()
        self.layers[file] = layer
