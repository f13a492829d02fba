"""An MCP server over the tools of a deployment. Consumer of `turns`."""

from seam.tools_mcp._config import McpConfig, Token
from seam.tools_mcp._errors import DoorError, EventLoopUnsupported, TokenMissing
from seam.tools_mcp._plugin import mcp

__all__ = ["DoorError", "EventLoopUnsupported", "McpConfig", "Token", "TokenMissing", "mcp"]
