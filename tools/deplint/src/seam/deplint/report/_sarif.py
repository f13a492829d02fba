"""The report as SARIF 2.1.0 (OASIS), which code hosts show beside the lines."""

from __future__ import annotations

import json

from seam.deplint._check import Report
from seam.deplint.facts import Place
from seam.deplint.rules import BY_ID, RULES, Finding
from seam.deplint.settings import Severity

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.ADVICE: "note",
    Severity.OFF: "none",
}


def render_sarif(report: Report) -> str:
    """One run with every rule described; what was let pass is there as suppressed results."""
    from importlib.metadata import version  # 30 ms that the other reports need not pay

    results = [_result(item) for item in report.findings]
    results += [_result(item, "inSource") for item in report.ignored]
    results += [_result(item, "external") for item in report.known]
    driver = {
        "name": "seam-deplint",
        "semanticVersion": version("seam-deplint"),
        "rules": [
            {
                "id": rule.id,
                "shortDescription": {"text": rule.title},
                "defaultConfiguration": {"level": _LEVELS[rule.severity]},
                "help": {"text": f"seam-deplint explain {rule.id}"},
            }
            for rule in RULES
        ],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    content = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _result(item: Finding, suppressed: str = "") -> dict[str, object]:
    result: dict[str, object] = {
        "ruleId": item.rule,
        "ruleIndex": list(BY_ID).index(item.rule),
        "level": _LEVELS[item.severity],
        "message": {"text": f"{item.message}. Way out: {item.way_out}."},
        "locations": [_location(item.place)],
        "partialFingerprints": {"seamDeplint/v1": item.id},
    }
    if item.also_at:
        result["relatedLocations"] = [_location(place) for place in item.also_at]
    if suppressed:
        result["suppressions"] = [{"kind": suppressed}]
    return result


def _location(place: Place) -> dict[str, object]:
    from urllib.parse import quote

    physical: dict[str, object] = {"artifactLocation": {"uri": quote(place.path or ".", safe="/!")}}
    if place.line:
        physical["region"] = {"startLine": place.line}
    return {"physicalLocation": physical}
