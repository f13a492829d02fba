"""The report for people: a short tree, one branch a distribution."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from seam.deplint._check import Report
from seam.deplint.rules import Finding
from seam.deplint.settings import Severity

_COLORS = {Severity.ERROR: "31;1", Severity.WARNING: "33;1", Severity.ADVICE: "36"}


def render_text(report: Report, *, color: bool = False, advice: bool = False) -> str:
    """The whole report; `color` adds ANSI colours, `advice` shows what never makes a run fail."""
    paint = _Paint(color)
    lines: list[str] = []
    shown = [item for item in report.findings if advice or item.severity is not Severity.ADVICE]
    for name, group in groupby(shown, key=lambda item: item.distribution):
        lines.append(paint("1", name or "(workspace)"))
        for finding in group:
            lines += _branch(finding, paint)
        lines.append("")
    lines.append(_summary(report, paint))
    if len(shown) < len(report.findings):
        lines.append(paint("2", "--advice shows the advice"))
    return "\n".join(lines) + "\n"


def _branch(finding: Finding, paint: _Paint) -> Iterator[str]:
    mark = paint(_COLORS.get(finding.severity, "0"), finding.severity.name.lower())
    yield f"  {finding.place}: {mark} {paint('1', finding.rule)}"
    yield f"    {finding.message}"
    if finding.also_at:
        yield f"    also at {', '.join(str(place) for place in finding.also_at)}"
    if finding.chain:
        yield f"    chain: {' -> '.join(finding.chain)}"
    yield paint("2", f"    way out: {finding.way_out}")


def _summary(report: Report, paint: _Paint) -> str:
    """One closing line: what was looked at and what came of it."""
    looked = f"{report.distributions} distributions, {report.modules} modules ({', '.join(report.sources)})"
    ignored = f", {len(report.ignored)} ignored" if report.ignored else ""
    ignored += f", {len(report.known)} in the baseline" if report.known else ""
    if not report.findings:
        return paint("32;1", "clean") + f": {looked}{ignored}"
    counts = [
        f"{number} {severity.name.lower()}{'s' if number != 1 and severity is not Severity.ADVICE else ''}"
        for severity in sorted(_COLORS, reverse=True)
        if (number := sum(finding.severity is severity for finding in report.findings))
    ]
    verdict = paint("31;1", "findings") if report.failed else paint("32;1", "passed")
    return f"{verdict}: {', '.join(counts)} in {looked}{ignored}"


class _Paint:
    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._color else text
