"""Renderings of a report."""

from seam.deplint.report._github import render_github
from seam.deplint.report._json import render_json
from seam.deplint.report._sarif import render_sarif
from seam.deplint.report._text import render_text

__all__ = ["render_github", "render_json", "render_sarif", "render_text"]
