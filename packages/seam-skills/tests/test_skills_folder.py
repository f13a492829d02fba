"""Skill files, good and bad."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seam.skills._folder import FolderSkills, read_folder
from seam.skills._front_matter import MAX_FILE_BYTES, BadSkill, read_skill

GOOD = b"---\nname: release\ndescription: How to release.\n---\n\nDo it.\n"


def skill(folder: Path, content: bytes, name: str = "release") -> Path:
    place = folder / name
    place.mkdir(parents=True)
    (place / "SKILL.md").write_bytes(content)
    return place


def test_a_skill_is_read(tmp_path: Path) -> None:
    found = read_skill(skill(tmp_path, GOOD))
    assert (found.front.name, found.front.description, found.body) == (
        "release",
        "How to release.",
        "Do it.\n",
    )


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + GOOD,
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"---\n\n", b"---  \n\n"),
        b"---\nname: release\ndescription: How to release.\nlicense: MIT\nmetadata: {a: 1}\nallowed-tools: Bash\n---\n\nDo it.\n",
    ],
    ids=["byte order mark", "crlf", "blanks after the fence", "optional fields"],
)
def test_what_editors_and_authors_add_is_fine(tmp_path: Path, content: bytes) -> None:
    assert read_skill(skill(tmp_path, content)).body == "Do it.\n"


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"# no front matter\n", 1, "no front matter"),
        (b"", 1, "no front matter"),
        (b"---\nname: release\n", 1, "not closed"),
        (b"---\nname: [unclosed\n---\nx", 2, "not YAML"),
        (b"---\n- a\n- b\n---\nx", 2, "key: value"),
        (b"---\nname: release\n---\nx", 2, "description"),
        (b"---\nname: Release\ndescription: x\n---\nx", 2, "name"),
        (b"---\ndescription: x\nname: other\n---\nx", 3, "the folder is 'release'"),
        (b"---\nname: release\ndescription: x\nplatfroms: [cli]\n---\nx", 2, "platfroms"),
        (b"---\nname: release\ndescription: " + b"x" * 2000 + b"\n---\nx", 2, "description"),
        (GOOD + b"\xff\xfe", 7, "not UTF-8"),
        (GOOD + b"a\x00b", 7, "NUL"),
        (GOOD + b"x" * MAX_FILE_BYTES, None, "larger"),
        (b"---\n" + b"[" * 20_000 + b"\n---\nx", None, "nested"),
    ],
)
def test_a_bad_file_is_named_with_line_and_reason(
    tmp_path: Path, content: bytes, line: int | None, reason: str
) -> None:
    with pytest.raises(BadSkill, match=reason) as caught:
        read_skill(skill(tmp_path, content))
    if line is not None:
        assert caught.value.line == line


def test_a_50_mb_file_is_not_read_whole(tmp_path: Path) -> None:
    place = skill(tmp_path, GOOD)
    with (place / "SKILL.md").open("r+b") as file:
        os.ftruncate(file.fileno(), 50_000_000)
    with pytest.raises(BadSkill, match="larger"):
        read_skill(place)


def test_the_rest_of_a_folder_works_beside_a_bad_file(tmp_path: Path) -> None:
    skill(tmp_path, GOOD)
    skill(tmp_path, b"\x00\x01binary", "broken")
    (tmp_path / "notes.txt").write_text("not a skill")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "empty").mkdir()
    reading = read_folder(tmp_path)
    assert [found.front.name for found in reading.skills] == ["release"]
    assert [Path(problem.place.split(":")[0]).parent.name for problem in reading.problems] == [
        "broken",
        "empty",
    ]


def test_a_missing_folder_has_no_skills(tmp_path: Path) -> None:
    assert read_folder(tmp_path / "nowhere").skills == ()


@pytest.mark.anyio
async def test_the_service_keeps_what_was_read_and_names_the_files_beside_it(tmp_path: Path) -> None:
    place = skill(tmp_path, GOOD)
    (place / "scripts").mkdir()
    (place / "scripts" / "run.sh").write_text("true")
    service = FolderSkills("skills", tmp_path, read_folder(tmp_path).skills)
    (place / "SKILL.md").write_bytes(b"changed")
    document = await service.describe("global", "release")
    assert document.text == "Do it.\n"
    assert document.resources == (str(place / "scripts" / "run.sh"),)
    (entry,) = await service.catalog("global")
    assert (entry.id, entry.description, entry.visibility.hidden) == ("release", "How to release.", False)
