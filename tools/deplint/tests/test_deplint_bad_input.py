"""Input that is broken: a named finding or a clear error, the rest still checked, never green by accident."""

from __future__ import annotations

import ast
import json
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seam.deplint.sources import scan_source
from seam.deplint.testing import House, install, write_wheel

Run = Callable[..., tuple[int, str, str]]


def rules(run: Run, *arguments: object) -> list[tuple[str, str]]:
    _, out, err = run("check", "--format", "json", *arguments)
    assert err == ""
    return [
        (item["rule"], item["path"]) for item in json.loads(out)["findings"] if item["severity"] != "advice"
    ]


def test_a_manifest_that_is_no_toml_is_named_and_the_others_are_checked(house: House, run: Run) -> None:
    house["seam-exec-tool"].files["seam/exec_tool/__init__.py"] += "import seam.exec_local\n"
    root = house.write()
    (root / "packages/seam-watch-tool/pyproject.toml").write_text("[project\n", "utf-8")
    assert rules(run, root) == [
        ("law-import", "packages/seam-exec-tool/src/seam/exec_tool/__init__.py"),
        ("manifest-broken", "packages/seam-watch-tool/pyproject.toml"),
    ]


def test_a_manifest_that_is_not_utf_8_is_named(house: House, run: Run) -> None:
    root = house.write()
    (root / "packages/seam-watch-tool/pyproject.toml").write_bytes(b'[project]\nname = "\xff"\n')
    assert rules(run, root) == [("manifest-broken", "packages/seam-watch-tool/pyproject.toml")]


def test_a_requirement_that_is_none_is_named(house: House, run: Run) -> None:
    house["seam-exec-tool"].dependencies.append("seam exec def")
    assert rules(run, house.write()) == [("manifest-broken", "packages/seam-exec-tool/pyproject.toml")]


def test_values_of_the_wrong_type_are_named_with_their_place(house: House, run: Run) -> None:
    root = house.write()
    path = root / "packages/seam-exec-tool/pyproject.toml"
    path.write_text(path.read_text("utf-8").replace('["seam-exec-def>=0.1,<1"]', '"seam-exec-def"'), "utf-8")
    _, out, _ = run("check", root)
    assert "project.dependencies must be an array" in out


def test_dynamic_requirements_are_said_to_be_unchecked(house: House, run: Run) -> None:
    root = house.write()
    path = root / "packages/seam-exec-tool/pyproject.toml"
    text = path.read_text("utf-8").replace(
        'dependencies = ["seam-exec-def>=0.1,<1"]', 'dynamic = ["dependencies"]'
    )
    path.write_text(text, "utf-8")
    assert rules(run, root) == [("metadata-dynamic", "packages/seam-exec-tool/pyproject.toml")]


@pytest.mark.parametrize(
    "source",
    [b"def f(:\n", b"x = '\xff'\n", b"\x00", b"import seam.kernel\n" + b"(" * 5000, b"# coding: nonsense\n"],
    ids=["syntax", "not utf-8", "null", "too deep", "unknown coding"],
)
def test_a_source_that_does_not_parse_is_named(house: House, run: Run, source: bytes) -> None:
    root = house.write()
    path = "packages/seam-exec-tool/src/seam/exec_tool/_odd.py"
    (root / path).write_bytes(source)
    assert rules(run, root) == [("file-unreadable", path)]


def test_another_declared_encoding_is_read(house: House, run: Run) -> None:
    root = house.write()
    path = root / "packages/seam-exec-tool/src/seam/exec_tool/_latin.py"
    path.write_bytes("# coding: latin-1\nimport seam.exec_local  # é\n".encode("latin-1"))
    assert [rule for rule, _ in rules(run, root)] == ["law-import"]


def test_a_symlink_cycle_is_named_and_not_followed(house: House, run: Run) -> None:
    root = house.write()
    folder = root / "packages/seam-exec-tool/src/seam/exec_tool"
    (folder / "again").symlink_to(folder, target_is_directory=True)
    assert rules(run, root) == [("file-unreadable", "packages/seam-exec-tool/src/seam/exec_tool/again")]


def test_a_dangling_symlink_is_named(house: House, run: Run) -> None:
    root = house.write()
    path = "packages/seam-exec-tool/src/seam/exec_tool/_gone.py"
    (root / path).symlink_to(root / "nowhere.py")
    assert rules(run, root) == [("file-unreadable", path)]


def test_a_package_of_many_files_is_checked_whole(house: House, run: Run) -> None:
    for number in range(1500):
        house["seam-exec-tool"].files[f"seam/exec_tool/part{number}.py"] = f"X = {number}\n"
    house["seam-exec-tool"].files["seam/exec_tool/part1499.py"] = "import seam.exec_local\n"
    assert [rule for rule, _ in rules(run, house.write())] == ["law-import"]


@pytest.mark.full
def test_a_package_of_ten_thousand_files_is_checked_whole(house: House, run: Run) -> None:
    for number in range(10_000):
        house["seam-exec-tool"].files[f"seam/exec_tool/part{number}.py"] = f"X = {number}\n"
    house["seam-exec-tool"].files["seam/exec_tool/part9999.py"] = "import seam.exec_local\n"
    assert [rule for rule, _ in rules(run, house.write())] == ["law-import"]


def test_archives_that_are_none_are_named_and_the_others_are_checked(
    house: House, run: Run, tmp_path: Path
) -> None:
    config = house.write() / "pyproject.toml"
    house["seam-exec-tool"].files["seam/exec_tool/__init__.py"] += "import seam.exec_local\n"
    wheel = write_wheel(house["seam-exec-tool"], tmp_path / "dist")
    local = write_wheel(house["seam-exec-local"], tmp_path / "dist")
    broken = tmp_path / "dist/broken-1.0-py3-none-any.whl"
    broken.write_bytes(b"no zip")
    empty = tmp_path / "dist/empty-1.0-py3-none-any.whl"
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("x.py", "")
    found = [rule for rule, _ in rules(run, "--config", config, wheel, local, broken, empty)]
    assert sorted(found) == ["archive-broken", "archive-broken", "law-import"]


def test_an_archive_cut_short_is_named(house: House, run: Run, tmp_path: Path) -> None:
    config = house.write() / "pyproject.toml"
    wheel = write_wheel(house["seam-exec-tool"], tmp_path / "dist")
    wheel.write_bytes(wheel.read_bytes()[:-30])
    assert [rule for rule, _ in rules(run, "--config", config, wheel)] == ["archive-broken"]


def test_an_sdist_is_read_like_a_tree_and_cannot_write_outside(
    house: House, run: Run, tmp_path: Path
) -> None:
    house["seam-exec-tool"].files["seam/exec_tool/__init__.py"] += "import seam.exec_local\n"
    root = house.write()
    path = tmp_path / "seam_exec_tool-0.1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(root / "packages/seam-exec-tool", "seam_exec_tool-0.1.0")
        data = b"print('out')\n"
        info = tarfile.TarInfo("../evil.py")
        info.size = len(data)
        archive.addfile(info, BytesIO(data))
    found = [rule for rule, _ in rules(run, root, path)]
    assert sorted(set(found)) == ["archive-unsafe", "law-import"]
    assert not (tmp_path.parent / "evil.py").exists()


def test_an_environment_with_broken_metadata_is_named_and_the_rest_is_checked(
    house: House, run: Run, tmp_path: Path
) -> None:
    config = house.write() / "pyproject.toml"
    house["seam-exec-tool"].dependencies.append("seam-exec-local>=0.1,<1")
    prefix = install(house, tmp_path / "env")
    site = prefix / "lib/python3.11/site-packages"
    (site / "seam_watch_tool-0.1.0.dist-info/METADATA").unlink()
    (site / "seam_exec_def-0.1.0.dist-info/METADATA").write_bytes(b"\xff\xfe")
    (site / "seam_kernel-0.2.0.dist-info").mkdir()
    (site / "seam_kernel-0.2.0.dist-info/METADATA").write_text("Name: seam-kernel\nVersion: 0.2.0\n", "utf-8")
    (site / "seam/exec_local/__init__.py").unlink()
    found = rules(run, "--config", config, "--python", prefix, "--only-python")
    assert ("law-requirement", "seam_exec_tool-0.1.0.dist-info/METADATA") in found
    assert ("metadata-broken", "seam_watch_tool-0.1.0.dist-info") in found
    assert ("metadata-broken", "seam_exec_def-0.1.0.dist-info") in found
    assert ("metadata-broken", "seam_kernel-0.2.0.dist-info/METADATA") in found
    assert ("record-mismatch", "seam_exec_local-0.1.0.dist-info/RECORD") in found


def test_two_distributions_that_claim_one_module_in_an_environment_are_named(
    house: House, run: Run, tmp_path: Path
) -> None:
    config = house.write() / "pyproject.toml"
    for name in ("local", "remote"):
        house[f"seam-exec-{name}"].files["seam/exec_local/_spawn.py"] = ""
    prefix = install(house, tmp_path / "env")
    found = [rule for rule, _ in rules(run, "--config", config, "--python", prefix, "--only-python")]
    assert found == ["module-overlap"]


@pytest.mark.parametrize("what", ["missing", "empty folder", "a text file"])
def test_an_environment_that_is_none_is_an_error(house: House, run: Run, tmp_path: Path, what: str) -> None:
    path = tmp_path / "env"
    if what == "empty folder":
        path.mkdir()
    elif what == "a text file":
        path.write_text("", "utf-8")
    code, out, err = run("check", "--python", path, house.write())
    assert (code, out) == (2, "")
    assert str(path) in err


def test_a_fault_of_the_linter_itself_does_not_look_like_a_finding(
    house: House, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("seam.deplint.cli._main.judge", broken)
    code, out, err = run("check", house.write())
    assert (code, out) == (2, "")
    assert "ZeroDivisionError: planted" in err


@pytest.mark.parametrize("argument", ["nowhere", "pyproject.toml"])
def test_a_path_that_is_nothing_to_check_is_an_error(house: House, run: Run, argument: str) -> None:
    code, out, err = run("check", house.write() / argument)
    assert (code, out) == (2, "")
    assert argument in err


def test_a_cache_that_is_damaged_is_an_empty_one(house: House, run: Run) -> None:
    house["seam-exec-tool"].files["seam/exec_tool/__init__.py"] += "import seam.exec_local\n"
    root = house.write()
    first = rules(run, root)
    cache = next((root / ".seam-deplint-cache").glob("scans-*.json"))
    assert rules(run, root) == first
    cache.write_text('{"x', "utf-8")
    assert rules(run, root) == first


def oracle(source: bytes) -> int | None:
    """How many import statements Python itself sees; None where it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return sum(len(node.names) if isinstance(node, ast.Import) else 1 for node in found)


STATEMENTS = ("import a", "from . import b", "from a.b import c, d", "pass", "x = 1", "import a.b as c, e")
HEADERS = (
    "if x:",
    "if TYPE_CHECKING:",
    "try:",
    "def f():",
    "class C:",
    "with x:",
    "for x in y:",
    "while x:",
    "async def f():",
)


@st.composite
def programs(draw: st.DrawFn, depth: int = 0) -> str:
    """Nested blocks around imports."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        if depth < 4 and draw(st.booleans()):
            header = draw(st.sampled_from(HEADERS))
            lines += [header, *("    " + line for line in draw(programs(depth + 1)).splitlines())]
            lines += ["except ImportError:", "    import z"] if header == "try:" else []
        else:
            lines.append(draw(st.sampled_from(STATEMENTS)))
    return "\n".join(lines)


@given(programs())
def test_every_import_statement_is_seen_wherever_it_stands(source: str) -> None:
    assert len(scan_source(source.encode()).imports) == oracle(source.encode())


@given(
    st.binary(max_size=300) | st.text(alphabet="import fro\n\t.:(),'seam*=x_", max_size=120).map(str.encode)
)
def test_any_bytes_are_scanned_like_python_reads_them_or_named(source: bytes) -> None:
    scan = scan_source(source)
    expected = oracle(source)
    assert bool(scan.error) == (expected is None)
    assert len(scan.imports) == (expected or 0)
