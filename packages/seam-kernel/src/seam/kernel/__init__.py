"""Contexts, plugins, effects and events."""

from typing import TYPE_CHECKING

from seam.kernel.lazy import lazy_exports

if TYPE_CHECKING:
    from seam.kernel._context import Context
    from seam.kernel._duration import Seconds
    from seam.kernel._effects import Disposer, Release
    from seam.kernel._errors import (
        ContextInactive,
        ContextSealed,
        DuplicateInstance,
        DuplicateProvider,
        InvalidConfig,
        InvalidDeclaration,
        KernelError,
        MiddlewareFinished,
        MiddlewareSkipped,
        PluginFailed,
        Retryable,
        ScopeUnsettled,
        SeamError,
        ServiceUnavailable,
        TeardownAbandoned,
        UndeclaredService,
    )
    from seam.kernel._event import Answer, Around, Decide, Next, Observe
    from seam.kernel._facts import InstanceFacts, ScopeFacts, ServiceFacts
    from seam.kernel._fault import Fault, FaultSink, Phase, log_fault
    from seam.kernel._instance import Instance, State
    from seam.kernel._kernel import Kernel
    from seam.kernel._paths import DeploymentPath, PathMark, WatchedPath, deployment_paths
    from seam.kernel._plugin import NoConfig, Plugin, plugin
    from seam.kernel._problem import Problem
    from seam.kernel._scope import Scope
    from seam.kernel._service import Service
    from seam.kernel._value import FrozenMapping, Value
else:  # what a type checker sees above is looked up when it is first used
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "_context": "Context",
            "_duration": "Seconds",
            "_effects": "Disposer Release",
            "_errors": (
                "ContextInactive ContextSealed DuplicateInstance DuplicateProvider InvalidConfig "
                "InvalidDeclaration KernelError MiddlewareFinished MiddlewareSkipped PluginFailed "
                "Retryable ScopeUnsettled SeamError ServiceUnavailable TeardownAbandoned "
                "UndeclaredService "
            ),
            "_event": "Answer Around Decide Next Observe",
            "_facts": "InstanceFacts ScopeFacts ServiceFacts",
            "_fault": "Fault FaultSink Phase log_fault",
            "_instance": "Instance State",
            "_kernel": "Kernel",
            "_paths": "DeploymentPath PathMark WatchedPath deployment_paths",
            "_plugin": "NoConfig Plugin plugin",
            "_problem": "Problem",
            "_scope": "Scope",
            "_service": "Service",
            "_value": "FrozenMapping Value",
        },
    )

__all__ = [
    "Answer",
    "Around",
    "Context",
    "ContextInactive",
    "ContextSealed",
    "Decide",
    "DeploymentPath",
    "Disposer",
    "DuplicateInstance",
    "DuplicateProvider",
    "Fault",
    "FaultSink",
    "FrozenMapping",
    "Instance",
    "InstanceFacts",
    "InvalidConfig",
    "InvalidDeclaration",
    "Kernel",
    "KernelError",
    "MiddlewareFinished",
    "MiddlewareSkipped",
    "Next",
    "NoConfig",
    "Observe",
    "PathMark",
    "Phase",
    "Plugin",
    "PluginFailed",
    "Problem",
    "Release",
    "Retryable",
    "Scope",
    "ScopeFacts",
    "ScopeUnsettled",
    "SeamError",
    "Seconds",
    "Service",
    "ServiceFacts",
    "ServiceUnavailable",
    "State",
    "TeardownAbandoned",
    "UndeclaredService",
    "Value",
    "WatchedPath",
    "deployment_paths",
    "log_fault",
    "plugin",
]
