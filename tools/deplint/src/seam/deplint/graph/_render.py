"""One entry for all drawings."""

from __future__ import annotations

from seam.deplint.graph._nodes import picture
from seam.deplint.graph._notation import dot, mermaid
from seam.deplint.graph._svg import page, svg
from seam.deplint.rules import View


def render_graph(view: View, form: str) -> str:
    """The picture of a view as `mermaid`, `dot`, `svg` or `html`."""
    drawings = {"mermaid": mermaid, "dot": dot, "svg": svg, "html": page}
    return drawings[form](picture(view))
