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
from seam.kernel._service import Service

__all__ = [
    "ContextInactive",
    "ContextSealed",
    "DuplicateProvider",
    "InvalidConfig",
    "InvalidDeclaration",
    "KernelError",
    "MiddlewareSkipped",
    "PluginFailed",
    "Retryable",
    "SeamError",
    "Service",
    "ServiceUnavailable",
    "UndeclaredService",
]
