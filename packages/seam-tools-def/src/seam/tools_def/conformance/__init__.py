"""Conformance kits: an implementer of `journal` or `tools` proves itself with one fixture."""

from seam.tools_def.conformance._card import BehaviourCard, CheckResult, examine, leaves
from seam.tools_def.conformance._check import Check, ConformanceFailure, check_named, expect
from seam.tools_def.conformance._journal_checks import JOURNAL_CHECKS
from seam.tools_def.conformance._journal_subject import JournalLack, JournalSubject
from seam.tools_def.conformance._journal_suite import JournalConformance
from seam.tools_def.conformance._tools_subject import ToolsSubject
from seam.tools_def.conformance._tools_suite import TOOLS_CHECKS, ToolsConformance

__all__ = [
    "JOURNAL_CHECKS",
    "TOOLS_CHECKS",
    "BehaviourCard",
    "Check",
    "CheckResult",
    "ConformanceFailure",
    "JournalConformance",
    "JournalLack",
    "JournalSubject",
    "ToolsConformance",
    "ToolsSubject",
    "check_named",
    "examine",
    "expect",
    "leaves",
]
