"""A graph as Mermaid text (https://mermaid.js.org/syntax/flowchart.html), for documents that draw it."""

from __future__ import annotations

from seam.host._graph import Graph, Node

_SHAPES = {
    "consumer": ("[", "]"),
    "door": ("[/", "/]"),
    "key": ("([", "])"),
    "implementer": ("[[", "]]"),
    "host": ("[", "]"),
}
_ARROWS = {"requires": "-->", "uses": "-.->", "provided by": "==>"}


def mermaid(graph: Graph) -> str:
    """The text of a flowchart."""
    names = {node.id: f"n{index}" for index, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    lines += [f"    {names[node.id]}{_shape(node)}" for node in graph.nodes]
    lines += [f"    {names[edge.start]} {_ARROWS[edge.kind]} {names[edge.end]}" for edge in graph.edges]
    lines += [
        "    classDef wrong stroke:#c0392b,stroke-width:2px,stroke-dasharray:5 3",
        "    classDef absent stroke:#999,color:#999,stroke-dasharray:3 3",
    ]
    wrong = [names[node.id] for node in graph.nodes if node.state not in ("ready", "absent")]
    absent = [names[node.id] for node in graph.nodes if node.state == "absent"]
    lines += [
        f"    class {','.join(group)} {name}"
        for name, group in (("wrong", wrong), ("absent", absent))
        if group
    ]
    return "\n".join(lines) + "\n"


def _shape(node: Node) -> str:
    left, right = _SHAPES[node.kind]
    words = [node.label, node.detail, "" if node.state in ("ready", "absent") else node.state]
    return f'{left}"{"<br/>".join(_plain(word) for word in words if word)}"{right}'


def _plain(text: str) -> str:
    # the entity codes of Mermaid: nothing in a label can end it or start markup
    return "".join(
        letter if letter.isalnum() or letter in " .-_()," else f"#{ord(letter)};" for letter in text
    )
