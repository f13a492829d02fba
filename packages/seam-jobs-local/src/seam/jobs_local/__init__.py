"""Jobs in this process. Implementer of `jobs`, mechanism `local`."""

from seam.jobs_local._config import LocalJobsConfig
from seam.jobs_local._plugin import local

__all__ = ["LocalJobsConfig", "local"]
