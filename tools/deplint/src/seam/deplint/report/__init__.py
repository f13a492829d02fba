"""Renderings of a report."""

from seam.deplint.report._text import render_text

__all__ = ["render_text"]
