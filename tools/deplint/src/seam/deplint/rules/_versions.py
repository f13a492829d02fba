"""Versions: siblings are required in a range that is true, and a train has one version."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase

from seam.deplint.facts import Section
from seam.deplint.rules._finding import Finding
from seam.deplint.rules._view import View

_LOWER = frozenset({">=", ">", "~=", "==", "==="})
_PLAIN = re.compile(r"<(\d+),>=(\d+)\.(\d+)")
_UPPER = frozenset({"<=", "<", "~=", "==", "==="})


def specifier_dishonest(view: View) -> Iterator[Finding]:
    """A sibling required in a range that its version is not in, or that promises more than a contract does."""
    if view.settings.specifiers == "any":
        return
    for item in view.sorted_members():
        for requirement in item.requires(Section.RUN, Section.EXTRA):
            name = requirement.name
            if name == item.name or not view.settings.is_family(name):
                continue
            version = view.known[name].version if name in view.known else ""
            strict = view.settings.specifiers == "compatible"
            said = (
                ""
                if _plain(requirement.specifier, version)
                else _dishonest(requirement.specifier, version, strict=strict)
            )
            if said:
                yield Finding(
                    "specifier-dishonest",
                    item.name,
                    f"{requirement.section_name}:{name}",
                    requirement.place,
                    f"{item.name} requires {requirement.text!r}, which {said}",
                    f"write {name}{_honest(version)}",
                    edge=(item.name, name),
                )


def _plain(text: str, version: str) -> bool:
    """Whether the range is `>=X.Y,<X+1` around a plain version: so nearly always that the parser is not worth its import."""
    match = _PLAIN.fullmatch(text)
    numbers = version.split(".")
    if match is None or len(numbers) < 2 or not all(number.isdecimal() for number in numbers):
        return False
    major, minor = int(numbers[0]), int(numbers[1])
    return int(match[1]) == major + 1 and int(match[2]) == major and int(match[3]) <= minor


def _honest(version: str) -> str:
    numbers = [number for number in version.split(".")[:2] if number.isdecimal()]
    return f">={'.'.join(numbers)},<{int(numbers[0]) + 1}" if len(numbers) == 2 else ">=X.Y,<X+1"


def _dishonest(text: str, stated: str, *, strict: bool) -> str:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version

    if text.startswith("@"):
        return "names a place instead of a range: nobody else can resolve it" if strict else ""
    try:
        specifiers = SpecifierSet(text)
    except InvalidSpecifier:
        return ""  # packaging parsed the requirement, so this cannot be reached with a text of its own
    try:
        version = Version(stated) if stated else None
    except InvalidVersion:
        return f"cannot be compared with the version that is here ({stated!r})"
    if version and not specifiers.contains(version, prereleases=True):
        return f"refuses the version that is here ({version})"
    if not strict:
        return ""
    operators = {item.operator for item in specifiers}
    if not operators & _LOWER:
        return "has no lower bound: it claims to work with versions that lack what it uses"
    if not operators & _UPPER:
        return "has no upper bound: it claims to work with the next contract"
    if version and specifiers.contains(f"{version.major + 1}.0", prereleases=True):
        return f"admits version {version.major + 1}, another contract"
    if version and version.major and specifiers.contains(f"{version.major - 1}.999999", prereleases=True):
        return f"admits version {version.major - 1}, another contract"
    return ""


def version_train(view: View) -> Iterator[Finding]:
    """Members of one train with different versions."""
    for patterns in view.settings.trains:
        versions = {
            item.name: item.version
            for item in view.sorted_members()
            if item.version and any(fnmatchcase(item.name, pattern) for pattern in patterns)
        }
        if len(set(versions.values())) < 2:
            continue
        common = min(Counter(versions.values()).items(), key=lambda found: (-found[1], found[0]))[0]
        for name, version in versions.items():
            if version != common:
                text = f"{name} has version {version}, the train has {common}"
                yield Finding(
                    "version-train", name, version, view.members[name].place, text, f"set it to {common}"
                )
