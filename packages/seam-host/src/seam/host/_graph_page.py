"""A graph as one HTML file that needs nothing else: no network, no script library."""

from __future__ import annotations

import itertools
from html import escape

from seam.host._graph import Edge, Graph, Node
from seam.host._layout import HEIGHT, WIDTH, Layout, Point, lay_out

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --paper: #fbfbf9; --line: #8896a5; --soft: #eef1f4;
  --consumer: #2a6f97; --door: #7a4ea3; --key: #b07d12; --implementer: #2f7d4f; --host: #5b6770; --wrong: #c0392b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --paper: #14181d; --line: #76859a; --soft: #1f262e;
  --consumer: #6fb3dc; --door: #bf95e6; --key: #e0b14c; --implementer: #74c795; --host: #a3b0ba; --wrong: #ff7a6b; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  padding: 2rem 1.5rem; max-width: 120rem; }
h1 { font-size: 1.3rem; margin: 0 0 .25rem; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; list-style: none; font-size: .85rem; }
.legend i { display: inline-block; width: .8rem; height: .8rem; border: 2px solid; border-radius: 3px; margin-right: .35rem;
  vertical-align: -.1rem; }
.picture { overflow: auto; border: 1px solid var(--soft); border-radius: 8px; }
svg { display: block; width: 100%; height: auto; min-width: 900px; }
svg text { font: 13px system-ui, sans-serif; fill: var(--ink); }
svg .detail { font-size: 10.5px; opacity: .75; }
.box rect { fill: var(--soft); stroke-width: 2; } .key rect { rx: 23px; }
.arrow { fill: none; stroke: var(--line); stroke-width: 1.5; } .uses { stroke-dasharray: 4 4; }
.consumer { color: var(--consumer); } .door { color: var(--door); } .key { color: var(--key); }
.implementer { color: var(--implementer); } .host { color: var(--host); } .wrong { color: var(--wrong); }
.box rect { stroke: currentColor; } .wrong rect { stroke-dasharray: 6 3; } .absent rect { stroke-dasharray: 3 4; opacity: .6; }
.picture:has(.box:hover) .box, .picture:has(.box:hover) .arrow { opacity: .2; }
.problem { border-left: 3px solid var(--wrong); padding: .15rem .75rem; margin: .75rem 0; overflow-wrap: anywhere; }
.problem b { display: block; } .problem code { display: block; white-space: pre-wrap; margin-top: .25rem; }
"""

LEGEND = (
    ("consumer", "consumer: what a model or client touches"),
    ("door", "door: lets calls in"),
    ("key", "capability, owned by a definition"),
    ("implementer", "implementer: how it is done"),
    ("wrong", "missing or broken"),
)


def graph_page(graph: Graph) -> str:
    """The page."""
    layout = lay_out(graph)
    legend = "".join(f'<li class="{kind}"><i></i>{escape(text)}</li>' for kind, text in LEGEND)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Seam: {escape(graph.title)}</title>
<style>{STYLE}{_hover(graph)}</style>
<h1>{escape(graph.title)}</h1>
<ul class="legend">{legend}<li>solid arrow: requires</li><li>dashed arrow: uses where it is there</li></ul>
<div class="picture">{_svg(graph, layout)}</div>
{_missing(graph)}
</html>
"""


TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 8 4 0 8z" fill="var(--line)"/></marker></defs>'
)


def _svg(graph: Graph, layout: Layout) -> str:
    arrows = "".join(_arrow(edge, number, layout) for number, edge in enumerate(graph.edges))
    boxes = "".join(_box(node, number, layout.boxes[node.id]) for number, node in enumerate(graph.nodes))
    size = f'viewBox="0 0 {layout.width:g} {layout.height:g}" style="max-width:{1.2 * layout.width:g}px"'
    label = escape(graph.title, quote=True)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">{TIP}{arrows}{boxes}</svg>'


def _box(node: Node, number: int, corner: Point) -> str:
    x, y = corner
    state = "" if node.state in ("ready", "absent") else f" - {node.state}"
    title = escape(f"{node.kind} {node.label}{state}\n{node.detail}".strip())
    classes = f"box b{number} {node.kind}" + (
        " wrong" if state else " absent" if node.state == "absent" else ""
    )
    detail = node.detail or (
        "nobody provides it" if node.state in ("missing", "absent") and node.kind == "key" else ""
    )
    middle = y + (19 if detail else 28)
    lines = f'<text x="{x + WIDTH / 2:g}" y="{middle:g}" text-anchor="middle">{escape(_cut(node.label, 30))}</text>'
    if detail:
        below = escape(_cut(f"{detail}{state}", 38))
        lines += (
            f'<text class="detail" x="{x + WIDTH / 2:g}" y="{y + 35:g}" text-anchor="middle">{below}</text>'
        )
    return (
        f'<g class="{classes}"><title>{title}</title>'
        f'<rect x="{x:g}" y="{y:g}" width="{WIDTH:g}" height="{HEIGHT:g}" rx="6"/>{lines}</g>'
    )


def _arrow(edge: Edge, number: int, layout: Layout) -> str:
    points = layout.arrows[edge]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        bend = (x1 - x0) / 2
        path += f" C{x0 + bend:.1f} {y0:.1f} {x1 - bend:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
    return f'<path class="arrow a{number} {edge.kind.split()[0]}" d="{path}" marker-end="url(#tip)"/>'


def _hover(graph: Graph) -> str:
    """Rules that bring out a box under the pointer, with its arrows and neighbours; no script is needed."""
    numbers = {node.id: number for number, node in enumerate(graph.nodes)}
    rules: list[str] = []
    for node, number in numbers.items():
        shown = [f".b{number}"]
        for index, edge in enumerate(graph.edges):
            if node in (edge.start, edge.end):
                shown += [f".a{index}", f".b{numbers[edge.end if edge.start == node else edge.start]}"]
        picked = ",".join(f".picture:has(.b{number}:hover) {name}" for name in shown)
        rules.append(f"{picked}{{opacity:1!important}}")
    return "\n".join(rules)


def _missing(graph: Graph) -> str:
    if not graph.missing:
        return "<h2>Nothing is missing</h2>"
    items = "".join(
        f'<div class="problem"><b>{escape(problem.row)}</b>{escape(problem.text)}'
        + (f" <small>{escape(problem.where)}</small>" if problem.where else "")
        + (f"<code>{escape(problem.remedy)}</code>" if problem.remedy else "")
        + "</div>"
        for problem in graph.missing
    )
    return f"<h2>What is missing or broken</h2>{items}"


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"
