"""Pictures as text that other tools draw: Mermaid and DOT."""

from __future__ import annotations

from seam.deplint.graph._nodes import Arrow, Picture, arrow_color

_MERMAID = {"requires": "-->", "extra": "-.->", "imports": "==>"}
_DOT = {"requires": "solid", "extra": "dashed", "imports": "bold"}


def mermaid(drawn: Picture) -> str:
    """A flowchart; unlawful arrows are red."""
    lines = ["flowchart TB"]
    identity = {node.name: f"n{index}" for index, node in enumerate(drawn.nodes)}
    for node in drawn.nodes:
        lines.append(f'  {identity[node.name]}["{node.name}<br/><small>{node.role}</small>"]')
        lines.append(f"  style {identity[node.name]} fill:{node.color},color:#ffffff,stroke:none")
    for index, arrow in enumerate(drawn.arrows):
        lines.append(f"  {identity[arrow.source]} {_MERMAID[arrow.how]} {identity[arrow.target]}")
        if not arrow.lawful:
            lines.append(f"  linkStyle {index} stroke:{arrow_color(arrow)},stroke-width:3px")
    return "\n".join(lines) + "\n"


def dot(drawn: Picture) -> str:
    """A digraph for Graphviz; unlawful arrows are red."""
    lines = [
        "digraph distributions {",
        "  rankdir=TB;",
        "  node [shape=box, style=filled, fontcolor=white, penwidth=0];",
    ]
    for node in drawn.nodes:
        lines.append(f'  "{node.name}" [label="{node.name}\\n{node.role}", fillcolor="{node.color}"];')
    lines += [f"  {_dot_arrow(arrow)}" for arrow in drawn.arrows]
    return "\n".join([*lines, "}"]) + "\n"


def _dot_arrow(arrow: Arrow) -> str:
    return f'"{arrow.source}" -> "{arrow.target}" [style={_DOT[arrow.how]}, color="{arrow_color(arrow)}"];'
