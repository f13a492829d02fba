"""Any MCP server as a tool service. Consumer of `integration` and `subprocess`."""

from seam.tools_mcp_client._config import McpClientConfig
from seam.tools_mcp_client._plugin import mcp_client

__all__ = ["McpClientConfig", "mcp_client"]
