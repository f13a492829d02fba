"""Model-facing tools over jobs. Consumer of `jobs`."""

from seam.jobs_tool._config import JobsToolConfig
from seam.jobs_tool._plugin import jobs_tool

__all__ = ["JobsToolConfig", "jobs_tool"]
