"""The tools of a turn as LangChain tools."""

from seam.tools_langchain._tools import SeamTool, seam_tools

__all__ = ["SeamTool", "seam_tools"]
