"""The skills of a folder, as a skill service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from seam.skills._front_matter import BadSkill, Skill, read_skill
from seam.tools_def import CapabilityUnavailable, Diagnostic, SkillDocument, SkillEntry, SkillService

RESOURCES_LISTED = 100
"""Files of one skill's folder that are named at most."""


@dataclass(frozen=True)
class FolderReading:
    """What a folder holds, and what of it cannot be used."""

    skills: tuple[Skill, ...]
    problems: tuple[Diagnostic, ...]


def read_folder(folder: Path) -> FolderReading:
    """Read every `<name>/SKILL.md`, by name. A folder that does not exist has none; files and hidden folders are passed over."""
    skills: list[Skill] = []
    problems: list[Diagnostic] = []
    entries = sorted(folder.iterdir(), key=lambda path: path.name) if folder.is_dir() else []
    for entry in entries:
        if entry.name.startswith(".") or not entry.is_dir():
            continue
        try:
            skills.append(read_skill(entry))
        except BadSkill as bad:
            place = f"{entry / 'SKILL.md'}" + (f":{bad.line}" if bad.line is not None else "")
            problems.append(Diagnostic(place=place, text=f"the skill is left out: {bad.reason}"))
    return FolderReading(tuple(skills), tuple(problems))


class FolderSkills(SkillService):
    """Offers what was read; the document is what it was then, whatever becomes of the file."""

    def __init__(self, identifier: str, folder: Path, skills: Sequence[Skill]) -> None:
        self.id = identifier
        self.description = f"skills of {folder}"
        self._skills = {skill.front.name: skill for skill in skills}

    async def catalog(self, owner: str) -> Sequence[SkillEntry]:
        """Every skill."""
        return [
            SkillEntry(
                id=skill.front.name,
                name=skill.front.name,
                description=skill.front.description,
                visibility=skill.front.visibility,
            )
            for skill in self._skills.values()
        ]

    async def describe(self, owner: str, skill_id: str) -> SkillDocument:
        """One skill with the files that lie beside it."""
        skill = self._skills.get(skill_id)
        if skill is None:
            raise CapabilityUnavailable(f"there is no skill {skill_id!r} in this folder", reason="unknown")
        files = sorted(p for p in skill.folder.rglob("*") if p.is_file() and p.name != "SKILL.md")
        return SkillDocument(
            id=skill_id, text=skill.body, resources=tuple(str(path) for path in files[:RESOURCES_LISTED])
        )
