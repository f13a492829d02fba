"""The convention folder `tools/`: found, loaded from source, reloaded for real (KE-009, KE-012, KE-015, KE-026, T-82, T-83)."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seam.host._source_folder import SourceFinder, content_digest
from seam.host._tool_files import ToolFileLoader, tool_files
from seam.kernel import Kernel
from seam.tools_def import Tool

TOOL = '''"""A tool file."""
from seam.tools_def import effects, tool

VALUE = {value}

@tool(effects=effects())
async def {name}() -> int:
    """Answer."""
    return VALUE
'''


@pytest.fixture
def finder() -> Iterator[SourceFinder]:
    made = SourceFinder()
    made.install()
    before = set(sys.modules)
    yield made
    made.remove()
    assert {name for name in set(sys.modules) - before if name.startswith("_seam_source_")} == set()


def write(folder: Path, name: str, value: object = 1) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(TOOL.format(name=name, value=value))
    return path


async def answers(loader: ToolFileLoader, folder: Path) -> dict[str, object]:
    """Load every row into a kernel and read the constant behind each tool."""
    rows, problems = loader.rows(folder)
    assert problems == []
    modules = {row.table: row.plugin.module for row in rows}
    found: dict[str, object] = {}
    async with Kernel() as kernel:
        for row in rows:
            kernel.root.load(row.plugin, row.config, name=row.table)
        await kernel.root.settle()
        for _, tool in kernel.root.contributions(Tool):
            found[tool.name] = sys.modules[modules[f"tools/{tool.name}.py"]].VALUE
    return found


def test_entries_are_files_and_packages_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "tools"
    write(folder, "b")
    write(folder, "a")
    write(folder, "_private")
    (folder / "notes.txt").write_text("no tool")
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("")
    (folder / "data").mkdir()
    assert [entry.name for entry in tool_files(folder)] == ["a", "b", "package"]
    assert tool_files(tmp_path / "nowhere") == []


@pytest.mark.anyio
@pytest.mark.parametrize("bytecode", [False, True])
async def test_t_82_ke_012_an_edit_of_the_same_size_in_the_same_second_takes_effect(
    tmp_path: Path, finder: SourceFinder, bytecode: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", not bytecode)
    loader, folder = ToolFileLoader(finder), tmp_path / "tools"
    for value in (1, 2, 3):
        write(folder, "answer", value)
        assert await answers(loader, folder) == {"answer": value}
    assert list(folder.rglob("*.pyc")) == []


@pytest.mark.anyio
async def test_t_83_new_files_are_found_deleted_ones_disappear_moved_ones_move(
    tmp_path: Path, finder: SourceFinder
) -> None:
    loader, folder = ToolFileLoader(finder), tmp_path / "tools"
    first = write(folder, "first", 1)
    assert set(await answers(loader, folder)) == {"first"}
    write(folder, "second", 2)
    assert set(await answers(loader, folder)) == {"first", "second"}
    first.unlink()
    assert set(await answers(loader, folder)) == {"second"}


def test_ke_015_what_did_not_change_is_the_same_row_and_the_digest_is_of_the_content(
    tmp_path: Path, finder: SourceFinder
) -> None:
    loader, folder = ToolFileLoader(finder), tmp_path / "tools"
    path = write(folder, "answer", 1)
    ((one,), _), ((two,), _) = loader.rows(folder), loader.rows(folder)
    assert one is two
    assert one.salt == content_digest(path)
    write(folder, "answer", 2)
    ((three,), _) = loader.rows(folder)
    assert three is not one
    assert three.salt == content_digest(path)


def test_ke_009_a_broken_save_is_a_problem_with_file_and_line_and_the_next_save_loads(
    tmp_path: Path, finder: SourceFinder
) -> None:
    loader, folder = ToolFileLoader(finder), tmp_path / "tools"
    path = write(folder, "answer", 1)
    assert loader.rows(folder)[1] == []
    path.write_text("def broken(:\n")
    rows, (problem,) = loader.rows(folder)
    assert rows == []
    assert f"{path}:1" in problem.text
    assert problem.row == "tools/answer.py"
    write(folder, "answer", 2)
    assert len(loader.rows(folder)[0]) == 1


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('no')", "RuntimeError: no"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("x = 1", "defines no tool"),
        ("import not_there_at_all", "not_there_at_all"),
        ("\x00", "null"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_the_others_load(
    tmp_path: Path, finder: SourceFinder, source: str, reason: str
) -> None:
    folder = tmp_path / "tools"
    write(folder, "good")
    (folder / "bad.py").write_text(source)
    rows, (problem,) = ToolFileLoader(finder).rows(folder)
    assert [row.table for row in rows] == ["tools/good.py"]
    assert reason in problem.text
    assert str(folder / "bad.py") in problem.text


def test_ke_026_packages_with_relative_imports_dataclasses_and_pickling(
    tmp_path: Path, finder: SourceFinder
) -> None:
    folder = tmp_path / "tools" / "shapes"
    folder.mkdir(parents=True)
    (folder / "helper.py").write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n\n@dataclass\nclass Point:\n    x: int\n"
    )
    (folder / "__init__.py").write_text("from . import helper\nfrom .helper import Point\n")
    one, two = finder.load(folder / "__init__.py"), finder.load(folder / "__init__.py")
    assert one is not two
    assert one.helper is not two.helper
    point = one.Point(3)
    assert pickle.loads(pickle.dumps(point)) == point
    assert type(pickle.loads(pickle.dumps(two.Point(4)))) is two.Point


def test_a_change_in_any_file_of_a_package_is_a_change(tmp_path: Path) -> None:
    folder = tmp_path / "shapes"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    before = content_digest(folder)
    (folder / "helper.py").write_text("x = 1")
    middle = content_digest(folder)
    (folder / "helper.py").write_text("x = 2")
    assert len({before, middle, content_digest(folder)}) == 3


def test_odd_names_do_not_break_a_digest(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    Path(str(tmp_path / "f") + "/bad\udcff.txt").write_bytes(b"x")
    assert len(content_digest(tmp_path / "f")) == 64
