"""Pictures of the distributions of a view, coloured by role."""

from seam.deplint.graph._nodes import picture
from seam.deplint.graph._notation import dot, mermaid
from seam.deplint.graph._svg import page, svg
from seam.deplint.rules import View

__all__ = ["picture", "render_graph"]


def render_graph(view: View, form: str) -> str:
    """The picture as `mermaid`, `dot`, `svg` or `html`."""
    drawings = {"mermaid": mermaid, "dot": dot, "svg": svg, "html": page}
    return drawings[form](picture(view))
