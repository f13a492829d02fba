"""An existing registry, sync or async, as a skill service."""

from __future__ import annotations

import pytest

from seam.tools_def import RegistrySkills, SkillDocument, SkillEntry

pytestmark = pytest.mark.anyio

ENTRY = SkillEntry(id="guide", name="Guide", description="How to.")


async def test_a_sync_registry_of_texts() -> None:
    skills = RegistrySkills(
        "books", "our books", entries=lambda: [ENTRY], read={"guide": "Do it."}.__getitem__
    )
    assert (skills.id, skills.description, skills.optional, skills.deadline) == (
        "books",
        "our books",
        False,
        None,
    )
    assert await skills.catalog("global") == (ENTRY,)
    assert await skills.describe("global", "guide") == SkillDocument(id="guide", text="Do it.")
    with pytest.raises(KeyError):
        await skills.describe("global", "other")


async def test_an_async_registry_of_documents() -> None:
    document = SkillDocument(id="guide", text="Do it.", resources=("a.txt",))

    async def entries() -> list[SkillEntry]:
        return [ENTRY]

    async def read(skill: str) -> SkillDocument:
        return document

    skills = RegistrySkills("books", "", entries=entries, read=read, optional=True, deadline=5)
    assert await skills.catalog("default") == (ENTRY,)
    assert await skills.describe("default", "guide") == document
    assert (skills.optional, skills.deadline) == (True, 5)
