"""The same distribution read from several sources must say the same: source, wheel and environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seam.deplint.facts import Distribution, Section, SourceKind
from seam.deplint.rules._finding import Finding
from seam.deplint.rules._view import View

_ORDER = (SourceKind.SOURCE, SourceKind.SDIST, SourceKind.WHEEL, SourceKind.INSTALLED)


def drift(views: Sequence[View]) -> Iterator[Finding]:
    """Each aspect in which a later stage differs from the nearest earlier one that is at hand."""
    stages = sorted(views, key=lambda view: _ORDER.index(view.kind))
    for index, later in enumerate(stages):
        for item in later.sorted_members():
            earlier = next(
                (view.members[item.name] for view in stages[:index] if item.name in view.members), None
            )
            if earlier is not None:
                yield from _compare(earlier, item)


def _compare(earlier: Distribution, later: Distribution) -> Iterator[Finding]:
    aspects = [
        ("version", _version(earlier, later), _version(later, earlier)),
        ("requirements", _requirements(earlier), _requirements(later)),
        ("entry points", _points(earlier), _points(later)),
    ]
    if earlier.modules and later.modules and not later.editable:
        aspects.append(("modules", frozenset(earlier.modules), frozenset(later.modules)))
    for aspect, before, after in aspects:
        if aspect in {"requirements", "entry points"} and earlier.dynamic & {"dependencies", "entry-points"}:
            continue
        if before == after:
            continue
        gone, new = sorted(before - after), sorted(after - before)
        said = "; ".join(
            part
            for part in (f"lacks {_some(gone)}" if gone else "", f"has {_some(new)}" if new else "")
            if part
        )
        text = f"{later.name}: the {later.kind} differs from the {earlier.kind} in its {aspect}: it {said}"
        way = "install it again" if later.kind is SourceKind.INSTALLED else "build it again from this source"
        yield Finding("drift", later.name, f"{later.kind}:{aspect}", later.place, text, way)


def _version(item: Distribution, other: Distribution) -> frozenset[str]:
    return frozenset({item.version}) if item.version and other.version else frozenset()


def _requirements(item: Distribution) -> frozenset[str]:
    return frozenset(
        f"{entry.name}{''.join(f'[{extra}]' for extra in entry.extras)}{entry.specifier}"
        + (f" (extra {entry.section_name})" if entry.section is Section.EXTRA else "")
        for entry in item.requires(Section.RUN, Section.EXTRA)
    )


def _points(item: Distribution) -> frozenset[str]:
    return frozenset(
        f"{point.group}: {point.name} = {point.value.replace(' ', '')}" for point in item.entry_points
    )


def _some(words: list[str]) -> str:
    return ", ".join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else "")
