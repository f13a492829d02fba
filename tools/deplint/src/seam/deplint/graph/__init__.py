"""Pictures of the distributions of a view, coloured by role."""

from seam.deplint.graph._render import render_graph

__all__ = ["render_graph"]
