"""The tools of a turn as a Pydantic AI toolset."""

from seam.tools_pydantic_ai._toolset import SeamToolset

__all__ = ["SeamToolset"]
