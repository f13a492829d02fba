"""Requirement texts (PEP 508) as facts."""

from __future__ import annotations

import re

from seam.deplint.facts import Place, Problem, Requirement, Section, canonical

_EXTRA_MARKER = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


def parse_requirement(text: str, section: Section, section_name: str, place: Place) -> Requirement | Problem:
    """One requirement, or the problem that keeps it from being one."""
    # imported late: a run whose manifests are all in the cache parses nothing and need not pay for the parser
    from packaging.requirements import InvalidRequirement
    from packaging.requirements import Requirement as Parsed

    try:
        parsed = Parsed(text)
    except InvalidRequirement as problem:
        said = str(problem).partition("\n")[0]
        return Problem("manifest-broken", f"{text!r} is not a requirement: {said}", place, text)
    return Requirement(
        name=canonical(parsed.name),
        text=text,
        specifier=str(parsed.specifier) if not parsed.url else f"@ {parsed.url}",
        marker=str(parsed.marker) if parsed.marker else "",
        extras=tuple(sorted(canonical(extra) for extra in parsed.extras)),
        section=section,
        section_name=section_name,
        place=place,
    )


def extra_of_marker(text: str) -> str:
    """The extra that a `Requires-Dist` line belongs to, by its marker; empty for a plain run-time requirement."""
    match = _EXTRA_MARKER.search(text.partition(";")[2])
    return canonical(match[1]) if match else ""
