"""The report as workflow commands: GitHub shows each finding at its line of a pull request."""

from __future__ import annotations

from seam.deplint._check import Report
from seam.deplint.rules import Finding
from seam.deplint.settings import Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "notice"}


def render_github(report: Report) -> str:
    """One workflow command a finding, and a closing line for the log."""
    lines = [_command(item) for item in report.findings]
    lines.append(f"seam-deplint: {len(report.findings)} findings in {report.distributions} distributions")
    return "\n".join(lines) + "\n"


def _command(item: Finding) -> str:
    line = f",line={item.place.line}" if item.place.line else ""
    title = f"{item.rule} ({item.id})"
    place = f"file={_property(item.place.path)}{line},title={_property(title)}"
    return f"::{_COMMANDS[item.severity]} {place}::{_data(f'{item.message} - way out: {item.way_out}')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
