"""What is let pass: ignores of the configuration, waivers in comments, the baseline; each must still be needed."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from seam.deplint._collect import Material
from seam.deplint.facts import Place, Waiver
from seam.deplint.rules import Finding
from seam.deplint.settings import Ignore, Settings

_NEVER_LET_PASS = frozenset({"ignore-unused", "waiver-unused", "baseline-stale"})


class Sieve:
    """Decides about each finding once, and complains at the end about exceptions that nothing needed."""

    def __init__(self, settings: Settings, material: Material, baseline: frozenset[str]) -> None:
        self.ignored: list[Finding] = []
        self.known: list[Finding] = []
        self._settings = settings
        self._whole = all(view.whole for view in material.views)
        self._baseline = baseline
        self._waivers: dict[tuple[str, int], tuple[str, Waiver]] = {}
        for view in material.views:
            for item in view.sorted_members():
                for module in item.modules.values():
                    for waiver in module.scan.waivers:
                        self._waivers[module.path, waiver.line] = (item.name, waiver)
        self._used: set[Ignore] = set()
        self._waived: set[tuple[str, int]] = set()

    def keeps(self, finding: Finding) -> bool:
        """Whether the finding counts."""
        matching = [item for item in self._settings.ignores if _matches(item, finding)]
        self._used.update(matching)
        if matching or self._is_waived(finding):
            self.ignored.append(finding)
            return False
        if finding.id in self._baseline:
            self.known.append(finding)
            return False
        return True

    def _is_waived(self, finding: Finding) -> bool:
        places = [finding.place, *finding.also_at]
        spots = [(place.path, place.line) for place in places]
        for spot in spots:
            _, waiver = self._waivers.get(spot, ("", None))
            if waiver is None or waiver.rule != finding.rule or not waiver.reason:
                return False  # every place of the finding needs its own waiver
        self._waived.update(spots)
        return True

    def complaints(self) -> Iterator[Finding]:
        """Exceptions that let nothing pass. Ignores are judged only when everything they may speak of was checked."""
        if self._whole:
            for item in self._settings.ignores:
                if item not in self._used:
                    yield _unused_ignore(item, self._settings)
        for (path, line), (name, waiver) in self._waivers.items():
            if (path, line) not in self._waived:
                yield _unused_waiver(name, Place(path, line), waiver)
        if self._whole:
            yield from self._stale()

    def _stale(self) -> Iterator[Finding]:
        for known in sorted(self._baseline - {finding.id for finding in self.known}):
            text = f"the baseline lists {known}, which is not found any more"
            way = "run `seam-deplint baseline` to shrink it"
            yield Finding("baseline-stale", "", known, Place(self._settings.baseline), text, way)


def _matches(item: Ignore, finding: Finding) -> bool:
    return (
        item.rule == finding.rule
        and item.rule not in _NEVER_LET_PASS
        and (not item.distribution or fnmatchcase(finding.distribution, item.distribution))
        and (not item.subject or fnmatchcase(finding.subject, item.subject))
        and (not item.path or fnmatchcase(finding.place.path, item.path))
    )


def _unused_ignore(item: Ignore, settings: Settings) -> Finding:
    text = f"the ignore of {item.rule} for {item.distribution or 'every distribution'} lets nothing pass any more"
    subject = "|".join((item.rule, item.distribution, item.subject, item.path))
    return Finding("ignore-unused", "", subject, Place(settings.path), text, f"remove {item.location}")


def _unused_waiver(name: str, place: Place, waiver: Waiver) -> Finding:
    if not waiver.reason:
        text, way = f"the waiver of {waiver.rule} gives no reason", "write it behind the bracket"
    else:
        text, way = f"the waiver of {waiver.rule} lets nothing pass", "remove the comment"
    return Finding("waiver-unused", name, f"{waiver.rule}", place, text, way)
