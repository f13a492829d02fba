"""What a door tells a model beside the schemas: notes and skills, deterministic and bounded."""

from __future__ import annotations

from collections.abc import Iterable

from seam.tools_runtime._catalogue import Table
from seam.tools_runtime._view import View

SKILLS = "Skills (documents to read before the work that they describe):"


def instructions(table: Table, view: View, limit: int) -> str:
    """Notes of plugins, notes of the tools in view, skills in view; whole paragraphs, and a last line about what was left out.

    Args:
        limit: characters, at most.
    """
    parts = [*_once(_notes(table, view))]
    if view.skills:
        parts.append(SKILLS)
        parts += [f"- {entry.id}: {' '.join(entry.description.split())}" for entry in view.skills]
    return _fit(parts, limit)


def _notes(table: Table, view: View) -> Iterable[str]:
    yield from table.notes
    for descriptor in view.tools:
        yield from descriptor.notes


def _once(notes: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(text for note in notes if (text := note.strip()))


def _fit(parts: list[str], limit: int) -> str:
    text = _joined(parts)
    if len(text) <= limit:
        return text
    for kept in range(len(parts) - 1, -1, -1):
        left = len(parts) - kept
        text = _joined([*parts[:kept], f"({left} more left out: the limit is {limit} characters)"])
        if len(text) <= limit:
            return text
    return ""


def _joined(parts: list[str]) -> str:
    lines: list[str] = []
    for part in parts:
        if lines and not (part.startswith("- ") and lines[-1].startswith(("- ", SKILLS))):
            lines.append("")
        lines.append(part)
    return "\n".join(lines)
