"""What confinement means: modes, policies, gaps, denials, and the services that decide and enforce them."""

from typing import TYPE_CHECKING

from seam.kernel.lazy import lazy_exports

if TYPE_CHECKING:
    from seam.sandbox_def._acceptance import check_arguments, mode_reports, refused_gaps
    from seam.sandbox_def._confined import Confined, InheritedBytes, InheritedPath, LaunchStatus, Released
    from seam.sandbox_def._denials import Denial, Operation
    from seam.sandbox_def._enforcement import Enforcement
    from seam.sandbox_def._errors import (
        InvalidPolicy,
        LinkRefused,
        ModeForbidden,
        SandboxError,
        SandboxSetupFailed,
        SandboxUnavailable,
        WideningRefused,
        WorkspaceChanged,
    )
    from seam.sandbox_def._gaps import CONSTANT_GAPS, Gap, GapCode
    from seam.sandbox_def._limits import Limits
    from seam.sandbox_def._modes import (
        MODES,
        NETWORKS,
        Mode,
        Network,
        is_wider,
        narrower,
        narrower_network,
    )
    from seam.sandbox_def._network import AllowedHost, NetworkDecision, network_decided
    from seam.sandbox_def._policy import PathAccess, PathRule, Policy, Ruling
    from seam.sandbox_def._probing import Circumstances, Probing, verdict_folder
    from seam.sandbox_def._reasons import REMEDIES, Finding, Reason
    from seam.sandbox_def._report import ModeReport, PolicyReport, ProbeResult, RuntimeReport
    from seam.sandbox_def._request import PolicyRequest
    from seam.sandbox_def._services import SandboxPolicy, SandboxRuntime
    from seam.sandbox_def._text import Argument, WorldPath
    from seam.sandbox_def._widening import Widening
else:  # what a type checker sees above is looked up when it is first used
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "_acceptance": "check_arguments mode_reports refused_gaps",
            "_confined": "Confined InheritedBytes InheritedPath LaunchStatus Released",
            "_denials": "Denial Operation",
            "_enforcement": "Enforcement",
            "_errors": (
                "InvalidPolicy LinkRefused ModeForbidden SandboxError SandboxSetupFailed "
                "SandboxUnavailable WideningRefused WorkspaceChanged "
            ),
            "_gaps": "CONSTANT_GAPS Gap GapCode",
            "_limits": "Limits",
            "_modes": "MODES NETWORKS Mode Network is_wider narrower narrower_network",
            "_network": "AllowedHost NetworkDecision network_decided",
            "_policy": "PathAccess PathRule Policy Ruling",
            "_probing": "Circumstances Probing verdict_folder",
            "_reasons": "REMEDIES Finding Reason",
            "_report": "ModeReport PolicyReport ProbeResult RuntimeReport",
            "_request": "PolicyRequest",
            "_services": "SandboxPolicy SandboxRuntime",
            "_text": "Argument WorldPath",
            "_widening": "Widening",
        },
    )

__all__ = [
    "CONSTANT_GAPS",
    "MODES",
    "NETWORKS",
    "REMEDIES",
    "AllowedHost",
    "Argument",
    "Circumstances",
    "Confined",
    "Denial",
    "Enforcement",
    "Finding",
    "Gap",
    "GapCode",
    "InheritedBytes",
    "InheritedPath",
    "InvalidPolicy",
    "LaunchStatus",
    "Limits",
    "LinkRefused",
    "Mode",
    "ModeForbidden",
    "ModeReport",
    "Network",
    "NetworkDecision",
    "Operation",
    "PathAccess",
    "PathRule",
    "Policy",
    "PolicyReport",
    "PolicyRequest",
    "ProbeResult",
    "Probing",
    "Reason",
    "Released",
    "Ruling",
    "RuntimeReport",
    "SandboxError",
    "SandboxPolicy",
    "SandboxRuntime",
    "SandboxSetupFailed",
    "SandboxUnavailable",
    "Widening",
    "WideningRefused",
    "WorkspaceChanged",
    "WorldPath",
    "check_arguments",
    "is_wider",
    "mode_reports",
    "narrower",
    "narrower_network",
    "network_decided",
    "refused_gaps",
    "verdict_folder",
]
