"""A tiny implementer of `subprocess`: it keeps output in memory, ends a process group, and says what it cannot promise."""

from acme_subprocess._plugin import acme

__all__ = ["acme"]
