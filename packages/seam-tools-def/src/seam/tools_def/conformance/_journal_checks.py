"""What every journal keeps."""

from __future__ import annotations

from seam.tools_def.conformance._check import Check
from seam.tools_def.conformance._journal_append import append_checks
from seam.tools_def.conformance._journal_chain import chain_checks
from seam.tools_def.conformance._journal_query import query_checks
from seam.tools_def.conformance._journal_subject import JournalSubject

JOURNAL_CHECKS: tuple[Check[JournalSubject], ...] = (
    *append_checks.checks,
    *chain_checks.checks,
    *query_checks.checks,
)
"""The kit for `Journal`."""
