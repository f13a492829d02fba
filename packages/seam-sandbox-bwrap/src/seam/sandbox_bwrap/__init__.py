"""Confines commands with bubblewrap: namespaces, Landlock, seccomp and limits together."""

from seam.sandbox_bwrap._config import BwrapConfig
from seam.sandbox_bwrap._plugin import bwrap
from seam.sandbox_bwrap._runtime import BwrapRuntime

__all__ = ["BwrapConfig", "BwrapRuntime", "bwrap"]
