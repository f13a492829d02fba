"""Pictures drawn here: an SVG with one row a floor, and an HTML page around it that lights up a box's arrows."""

from __future__ import annotations

from collections import Counter
from html import escape

from seam.deplint.graph._nodes import Arrow, Node, Picture, arrow_color

_WIDTH, _HEIGHT, _GAP, _FLOOR, _MARGIN = 190, 44, 18, 120, 24
"""Pixels: a box, the gap between boxes, the distance of two floors, the margin."""
_IN_A_ROW = 8
_DASHES = {"requires": "", "extra": ' stroke-dasharray="6 4"', "imports": ' stroke-dasharray="2 3"'}

_STYLE = """
body { font: 14px system-ui, sans-serif; margin: 1.5rem; color: #1f2328; }
svg { max-width: 100%; height: auto; }
g.box { cursor: pointer; }
svg.chosen path, svg.chosen g.box { opacity: .12; }
svg.chosen .near { opacity: 1 !important; }
"""
_SCRIPT = """
const svg = document.querySelector("svg");
const near = name => svg.querySelectorAll("[data-ends]").forEach(node => {
  const ends = node.dataset.ends.split(" ");
  if (!ends.includes(name)) return;
  node.classList.add("near");
  ends.forEach(end => svg.querySelector(`[data-name="${end}"]`).classList.add("near"));
});
svg.addEventListener("click", event => {
  const box = event.target.closest("g.box");
  svg.querySelectorAll(".near").forEach(node => node.classList.remove("near"));
  svg.classList.toggle("chosen", Boolean(box));
  if (box) { box.classList.add("near"); near(box.dataset.name); }
});
"""


def svg(drawn: Picture) -> str:
    """A self-contained SVG."""
    places = _places(drawn.nodes)
    width = max((x for x, _ in places.values()), default=0) + _WIDTH + _MARGIN
    bottom = max((y for _, y in places.values()), default=0) + _HEIGHT + _MARGIN
    height = bottom + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="system-ui, sans-serif" font-size="13">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="context-stroke"/></marker></defs>',
    ]
    parts += [_path(arrow, places) for arrow in drawn.arrows]
    parts += [_box(node, places[node.name]) for node in drawn.nodes]
    x = _MARGIN
    for role, color in drawn.legend:
        parts.append(_legend(x, role, color, bottom))
        x += 50 + 7 * len(role)
    return "\n".join([*parts, "</svg>"]) + "\n"


def page(drawn: Picture) -> str:
    """A self-contained HTML page: a click on a box shows its neighbours alone."""
    unlawful = sum(not arrow.lawful for arrow in drawn.arrows)
    said = f"{len(drawn.nodes)} distributions, {len(drawn.arrows)} arrows, {unlawful} of them against the law (red)"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Distributions by role</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>Distributions by role</h1>\n<p>{said}. Arrows: solid requires, dashed"
        f" extra, dotted imported only. Click a box.</p>\n{svg(drawn)}<script>{_SCRIPT}</script></body></html>\n"
    )


def _places(nodes: tuple[Node, ...]) -> dict[str, tuple[int, int]]:
    """Floors from the top: what stands on most is highest. A floor wider than a row takes several."""
    found: dict[str, tuple[int, int]] = {}
    y = _MARGIN
    widest = min(_IN_A_ROW, max(Counter(node.rank for node in nodes).values(), default=0))
    for rank in sorted({node.rank for node in nodes}, reverse=True):
        floor = [node for node in nodes if node.rank == rank]
        for start in range(0, len(floor), _IN_A_ROW):
            row = floor[start : start + _IN_A_ROW]
            left = _MARGIN + (widest - len(row)) * (_WIDTH + _GAP) // 2
            for column, node in enumerate(row):
                found[node.name] = (left + column * (_WIDTH + _GAP), y)
            y += _HEIGHT + _GAP
        y += _FLOOR - _HEIGHT - _GAP
    return found


def _path(arrow: Arrow, places: dict[str, tuple[int, int]]) -> str:
    (x1, y1), (x2, y2) = places[arrow.source], places[arrow.target]
    start, end = (x1 + _WIDTH // 2, y1 + _HEIGHT), (x2 + _WIDTH // 2, y2 - 2)
    middle = (start[1] + end[1]) // 2
    curve = f"M{start[0]} {start[1]} C{start[0]} {middle} {end[0]} {middle} {end[0]} {end[1]}"
    width = 1.2 if arrow.lawful else 2.6
    ends = escape(f"{arrow.source} {arrow.target}", quote=True)
    return (
        f'<path d="{curve}" data-ends="{ends}" fill="none" stroke="{arrow_color(arrow)}" stroke-width="{width}"'
        f'{_DASHES[arrow.how]} marker-end="url(#tip)"/>'
    )


def _box(node: Node, place: tuple[int, int]) -> str:
    x, y = place
    name, role = escape(node.name, quote=True), escape(node.role)
    return (
        f'<g class="box" data-name="{name}"><title>{name}: {role}</title>'
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="{node.color}"/>'
        f'<text x="{x + 10}" y="{y + 19}" fill="#fff">{name}</text>'
        f'<text x="{x + 10}" y="{y + 35}" fill="#fff" opacity=".8" font-size="11">{role}</text></g>'
    )


def _legend(x: int, role: str, color: str, y: int) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="14" height="14" rx="3" fill="{color}"/>'
        f'<text x="{x + 20}" y="{y + 12}" fill="#57606a">{escape(role)}</text>'
    )
