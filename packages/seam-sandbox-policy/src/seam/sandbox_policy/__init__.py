"""Decides what a sandboxed call may do: mode, roots, protected and hidden paths, limits."""

from seam.sandbox_policy._config import PolicyConfig
from seam.sandbox_policy._plugin import policy
from seam.sandbox_policy._resolver import ConfiguredPolicy

__all__ = ["ConfiguredPolicy", "PolicyConfig", "policy"]
