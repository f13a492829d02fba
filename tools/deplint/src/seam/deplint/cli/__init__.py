"""The command line."""

from seam.deplint.cli._arguments import parse
from seam.deplint.cli._main import main

__all__ = ["main", "parse"]
