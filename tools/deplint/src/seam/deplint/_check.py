"""One run: rules over views, then what the configuration says about their findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from seam.deplint.facts import Place, Problem
from seam.deplint.rules import BY_ID, RULES, Finding, View, problems
from seam.deplint.settings import Ignore, Settings, Severity


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a run: what was looked at, what was found, what was let pass."""

    findings: tuple[Finding, ...]
    ignored: tuple[Finding, ...]
    distributions: int
    modules: int
    fail_on: Severity

    @property
    def failed(self) -> bool:
        """Whether a finding reaches the severity that makes the run fail."""
        return any(finding.severity >= self.fail_on for finding in self.findings)


def run_rules(view: View) -> Iterator[Finding]:
    """Every finding of every rule on one view, at the severity of the rule."""
    for rule in RULES:
        if rule.check is None or (rule.whole and not view.whole):
            continue
        if _severity(rule.id, view.settings) is not Severity.OFF:
            yield from rule.check(view)
    yield from problems(view)


def judge(views: Sequence[View], settings: Settings, beside: Iterable[Problem] = ()) -> Report:
    """Run everything and sort the outcome. `beside` are problems of no particular distribution."""
    found = [finding for view in views for finding in run_rules(view)]
    found += [
        Finding(p.rule, "", p.subject or p.text, p.place, p.text, "correct it, or remove it") for p in beside
    ]
    kept, ignored, used = _ignore(found, settings.ignores)
    if all(view.whole for view in views):
        kept += [_unused(item, settings) for item in settings.ignores if item not in used]
    graded = [replace(finding, severity=_severity(finding.rule, settings)) for finding in kept]
    shown = {finding.id: finding for finding in graded if finding.severity is not Severity.OFF}
    return Report(
        findings=tuple(
            sorted(shown.values(), key=lambda item: (item.distribution, item.place, item.rule, item.subject))
        ),
        ignored=tuple(ignored),
        distributions=sum(len(view.members) for view in views),
        modules=sum(len(item.modules) for view in views for item in view.members.values()),
        fail_on=settings.fail_on,
    )


def _severity(rule: str, settings: Settings) -> Severity:
    return settings.severity.get(rule, BY_ID[rule].severity)


def _ignore(
    found: list[Finding], ignores: tuple[Ignore, ...]
) -> tuple[list[Finding], list[Finding], set[Ignore]]:
    kept: list[Finding] = []
    ignored: list[Finding] = []
    used: set[Ignore] = set()
    for finding in found:
        matching = [item for item in ignores if _matches(item, finding)]
        used.update(matching)
        (ignored if matching else kept).append(finding)
    return kept, ignored, used


def _matches(item: Ignore, finding: Finding) -> bool:
    return (
        item.rule == finding.rule
        and (not item.distribution or fnmatchcase(finding.distribution, item.distribution))
        and (not item.subject or fnmatchcase(finding.subject, item.subject))
        and (not item.path or fnmatchcase(finding.place.path, item.path))
    )


def _unused(item: Ignore, settings: Settings) -> Finding:
    text = f"the ignore of {item.rule} for {item.distribution or 'every distribution'} lets nothing pass any more"
    subject = "|".join((item.rule, item.distribution, item.subject, item.path))
    return Finding("ignore-unused", "", subject, Place(settings.path), text, f"remove {item.location}")
