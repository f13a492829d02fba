"""The command `seam`."""

from seam.host.cli._app import main

__all__ = ["main"]
