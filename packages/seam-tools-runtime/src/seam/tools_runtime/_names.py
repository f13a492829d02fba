"""Names that a model may be shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from seam.tools_def import TOOL_NAME

RESERVED_PREFIXES = ("seam_", "seam-")
"""Kept for what Seam itself may offer one day; the word `seam` alone is reserved too."""


def name_problem(name: object) -> str | None:
    """Why a tool or skill cannot have this name, or None."""
    if not isinstance(name, str):
        return f"its name is a {type(name).__name__}, not a text"
    if not name.strip():
        return "its name is blank"
    if not TOOL_NAME.match(name):
        return f"{name[:80]!r} is not a legal name; it starts with a letter, then letters, digits, _ or -, 64 at most"
    if name.casefold() == "seam" or name.casefold().startswith(RESERVED_PREFIXES):
        return f"{name!r} is reserved; choose a name that does not start with `seam`"
    return None


def clashes(named: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str, str]]:
    """Names that would be seen twice, also when they differ in case only: first name and source, second name and source."""
    first: dict[str, tuple[str, str]] = {}
    for name, source in named:
        key = name.casefold()
        if key in first:
            yield *first[key], name, source
        else:
            first[key] = (name, source)
