"""Conformance kits: an implementer of `journal` proves itself with one fixture."""

from seam.tools_def.conformance._card import BehaviourCard, CheckResult, examine
from seam.tools_def.conformance._check import Check, ConformanceFailure, check_named, expect
from seam.tools_def.conformance._journal_checks import JOURNAL_CHECKS
from seam.tools_def.conformance._journal_subject import JournalLack, JournalSubject
from seam.tools_def.conformance._journal_suite import JournalConformance

__all__ = [
    "JOURNAL_CHECKS",
    "BehaviourCard",
    "Check",
    "CheckResult",
    "ConformanceFailure",
    "JournalConformance",
    "JournalLack",
    "JournalSubject",
    "check_named",
    "examine",
    "expect",
]
