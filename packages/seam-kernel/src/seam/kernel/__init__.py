"""Contexts, plugins, effects and events."""

from seam.kernel._errors import (
    ContextInactive,
    ContextSealed,
    DuplicateProvider,
    InvalidConfig,
    InvalidDeclaration,
    KernelError,
    MiddlewareSkipped,
    PluginFailed,
    Retryable,
    SeamError,
    ServiceUnavailable,
    UndeclaredService,
)
from seam.kernel._events import Around, Decide, Observe
from seam.kernel._service import Service

__all__ = [
    "Around",
    "ContextInactive",
    "ContextSealed",
    "Decide",
    "DuplicateProvider",
    "InvalidConfig",
    "InvalidDeclaration",
    "KernelError",
    "MiddlewareSkipped",
    "Observe",
    "PluginFailed",
    "Retryable",
    "SeamError",
    "Service",
    "ServiceUnavailable",
    "UndeclaredService",
]
