"""One run: rules over views, then what the configuration says about their findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from seam.deplint._collect import Material
from seam.deplint._exceptions import Sieve
from seam.deplint.facts import Problem
from seam.deplint.rules import BY_ID, RULES, Finding, View, deployment_row, drift, problems
from seam.deplint.settings import Settings, Severity

_OUTCOME = "correct it, or remove it"


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a run: what was looked at, what was found, what was let pass.

    `shown` findings count; `ignored` were let pass by configuration or a comment, `known` by the baseline.
    """

    findings: tuple[Finding, ...]
    ignored: tuple[Finding, ...]
    known: tuple[Finding, ...]
    sources: tuple[str, ...]
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


def judge(material: Material, settings: Settings, baseline: frozenset[str] = frozenset()) -> Report:
    """Run everything on what was read and sort the outcome. `baseline` holds ids of findings that are known."""
    found = _unique(_all(material))
    sieve = Sieve(settings, material, baseline)
    kept = [finding for finding in found if sieve.keeps(finding)]
    kept += sieve.complaints()
    graded = (replace(finding, severity=_severity(finding.rule, settings)) for finding in kept)
    shown = [finding for finding in graded if finding.severity is not Severity.OFF]
    views = material.views
    return Report(
        findings=tuple(
            sorted(shown, key=lambda item: (item.distribution, item.place, item.rule, item.subject))
        ),
        ignored=tuple(sieve.ignored),
        known=tuple(sieve.known),
        sources=tuple(str(view.kind) for view in views),
        distributions=sum(len(view.members) for view in views),
        modules=sum(len(item.modules) for view in views for item in view.members.values()),
        fail_on=settings.fail_on,
    )


def _all(material: Material) -> Iterator[Finding]:
    earlier: set[tuple[str, str, str]] = set()
    for view in material.views:
        found = list(run_rules(view))
        # what the source shows is not told again by the wheel that was built from it
        yield from (item for item in found if (item.rule, item.distribution, item.subject) not in earlier)
        earlier.update((item.rule, item.distribution, item.subject) for item in found)
    yield from drift(material.views)
    if material.views:
        for deployment in material.deployments:
            yield from deployment_row(material.views[-1], deployment)
    yield from _beside(material.problems)


def _beside(found: Iterable[Problem]) -> Iterator[Finding]:
    for item in found:
        yield Finding(item.rule, "", item.subject or item.text, item.place, item.text, _OUTCOME)


def _unique(found: Iterable[Finding]) -> list[Finding]:
    """One finding an id: the same import seen on several lines, or one fact read from two sources, is one fault."""
    first: dict[str, Finding] = {}
    for finding in found:
        first.setdefault(finding.id, finding)
    return list(first.values())


def _severity(rule: str, settings: Settings) -> Severity:
    return settings.severity.get(rule, BY_ID[rule].severity)
