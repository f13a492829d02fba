"""Where the boxes of a graph go: layers from left to right in the direction of calls, few crossings.

The usual steps of a layered drawing (Sugiyama, Tagawa, Toda 1981): break circles, give layers by the longest path, let long
arrows pass through points of their own, order each layer by the middle of its neighbours.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from seam.host._graph import Edge, Graph

WIDTH, HEIGHT, PASSAGE = 190.0, 46.0, 14.0
ACROSS, DOWN, MARGIN = 64.0, 18.0, 24.0
SWEEPS = 12

Point = tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """Upper left corners of the boxes, the points that each arrow runs through, and the size of the whole; in pixels."""

    boxes: dict[str, Point]
    arrows: dict[Edge, list[Point]]
    width: float
    height: float


@dataclass
class _Grid:
    layers: list[list[str]] = field(default_factory=list[list[str]])
    left: dict[str, list[str]] = field(default_factory=lambda: defaultdict[str, list[str]](list))
    right: dict[str, list[str]] = field(default_factory=lambda: defaultdict[str, list[str]](list))
    chains: dict[Edge, list[str]] = field(default_factory=dict[Edge, list[str]])


def lay_out(graph: Graph) -> Layout:
    """Place every box and arrow of a graph."""
    grid = _grid(graph)
    for sweep in range(SWEEPS):
        forth = sweep % 2 == 0
        for layer in grid.layers if forth else reversed(grid.layers):
            _order(layer, grid, forth)
    tall = max((_height(layer) for layer in grid.layers), default=0.0)
    centres: dict[str, Point] = {}
    for column, layer in enumerate(grid.layers):
        x = MARGIN + column * (WIDTH + ACROSS)
        y = MARGIN + (tall - _height(layer)) / 2
        for name in layer:
            size = _size(name)
            centres[name] = (x, y + size / 2)
            y += size + DOWN
    boxes = {node.id: (centres[node.id][0], centres[node.id][1] - HEIGHT / 2) for node in graph.nodes}
    arrows = {edge: _points([centres[name] for name in chain]) for edge, chain in grid.chains.items()}
    columns = max(1, len(grid.layers))
    return Layout(boxes, arrows, 2 * MARGIN + columns * WIDTH + (columns - 1) * ACROSS, tall + 2 * MARGIN)


def _grid(graph: Graph) -> _Grid:
    layer_of = _layers(graph)
    grid = _Grid([[] for _ in range(max(layer_of.values(), default=0) + 1)])
    for node in graph.nodes:
        grid.layers[layer_of[node.id]].append(node.id)
    for number, edge in enumerate(graph.edges):
        start, end = edge.start, edge.end
        if layer_of[start] > layer_of[end]:  # part of a circle: drawn against the direction of the layers
            start, end = end, start
        chain = [start]
        for layer in range(layer_of[start] + 1, layer_of[end]):
            passage = f"passage:{number}:{layer}"
            grid.layers[layer].append(passage)
            chain.append(passage)
        chain.append(end)
        for here, there in itertools.pairwise(chain):
            grid.right[here].append(there)
            grid.left[there].append(here)
        grid.chains[edge] = chain if start == edge.start else chain[::-1]
    return grid


def _layers(graph: Graph) -> dict[str, int]:
    """The layer of each node: one more than the farthest node that leads to it; arrows that close a circle do not count."""
    leads: dict[str, list[str]] = defaultdict(list)
    for edge in graph.edges:
        leads[edge.start].append(edge.end)
    layer = {node.id: 0 for node in graph.nodes}

    def push(name: str, path: tuple[str, ...]) -> None:
        for end in leads[name]:
            if end not in path and layer[end] < len(path):
                layer[end] = len(path)
                push(end, (*path, end))

    for node in graph.nodes:
        if node.kind in ("consumer", "door"):
            push(node.id, (node.id,))
    for node in graph.nodes:
        if node.kind == "key" and layer[node.id] == 0:
            layer[node.id] = 1
            push(node.id, ("", node.id))
    for node in graph.nodes:
        if node.kind in ("implementer", "host") and layer[node.id] == 0:
            layer[node.id] = 2
            push(node.id, ("", "", node.id))
    return layer


def _order(layer: list[str], grid: _Grid, forth: bool) -> None:
    beside = grid.left if forth else grid.right
    place = {name: index for other in grid.layers for index, name in enumerate(other)}

    def middle(name: str) -> float:
        near = [place[other] for other in beside[name]]
        return sum(near) / len(near) if near else place[name]

    layer.sort(key=middle)


def _size(name: str) -> float:
    return PASSAGE if name.startswith("passage:") else HEIGHT


def _height(layer: Sequence[str]) -> float:
    return sum(_size(name) for name in layer) + DOWN * max(0, len(layer) - 1)


def _points(centres: list[Point]) -> list[Point]:
    """From the right side of the first box, through the passages, to the left side of the last."""
    inner = [point for x, y in centres[1:-1] for point in ((x, y), (x + WIDTH, y))]
    first, last = centres[0], centres[-1]
    if first[0] > last[0]:
        return [first, *inner, (last[0] + WIDTH, last[1])]
    return [(first[0] + WIDTH, first[1]), *inner, last]
