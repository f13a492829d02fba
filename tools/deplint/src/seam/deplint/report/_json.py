"""The report for programs: one JSON object."""

from __future__ import annotations

import json

from seam.deplint._check import Report
from seam.deplint.facts import Place
from seam.deplint.rules import Finding

FORMAT = 1
"""Raised when a field changes its meaning or goes."""


def render_json(report: Report) -> str:
    """The report, findings sorted, ids stable."""
    content = {
        "format": FORMAT,
        "failed": report.failed,
        "sources": list(report.sources),
        "distributions": report.distributions,
        "modules": report.modules,
        "findings": [_finding(item) for item in report.findings],
        "ignored": [_finding(item) for item in report.ignored],
        "baseline": [_finding(item) for item in report.known],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _finding(item: Finding) -> dict[str, object]:
    return {
        "id": item.id,
        "rule": item.rule,
        "severity": item.severity.name.lower(),
        "distribution": item.distribution,
        "path": item.place.path,
        "line": item.place.line,
        "also_at": [_place(place) for place in item.also_at],
        "message": item.message,
        "way_out": item.way_out,
        "edge": list(item.edge) if item.edge else None,
        "chain": list(item.chain),
        "subject": item.subject,
    }


def _place(place: Place) -> dict[str, object]:
    return {"path": place.path, "line": place.line}
