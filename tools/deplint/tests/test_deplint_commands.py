"""The commands beside `check`: explain, why, graph, init; and what embeds the linter: pytest, a hook, Python."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from seam.deplint import NotChecked, check_tree
from seam.deplint.rules import RULES
from seam.deplint.testing import House, Member

Run = Callable[..., tuple[int, str, str]]
pytest_plugins = ["pytester"]

PAGE_PARTS = ("# ", "**Demands.**", "**Why.**", "## Fails", "## Passes")


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_every_rule_has_a_page_with_a_failing_and_a_passing_example(run: Run, rule: str) -> None:
    code, out, _ = run("explain", rule)
    assert code == 0
    assert out.startswith(f"# {rule}\n")
    assert all(part in out for part in PAGE_PARTS), [part for part in PAGE_PARTS if part not in out]


def test_the_pages_are_the_documentation() -> None:
    root = Path(__file__).parents[3]
    pages = {path.stem for path in (root / "docs/deplint/rules").glob("*.md")}
    assert pages == {rule.id for rule in RULES}


def test_explain_lists_the_rules_and_refuses_others(run: Run) -> None:
    code, out, _ = run("explain")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == [rule.id for rule in RULES]
    code, out, err = run("explain", "law")
    assert (code, out) == (2, "")
    assert "no rule 'law'" in err


def test_why_shows_the_shortest_chains_with_their_places(house: House, run: Run) -> None:
    config = house.write() / "pyproject.toml"
    code, out, _ = run("why", "seam-exec-tool", "seam.kernel", "--config", config)
    assert code == 0
    assert (
        out.splitlines()[0]
        == "seam-exec-tool (consumer) -> seam-exec-def (definition) -> seam-kernel (kernel)"
    )
    assert "packages/seam-exec-tool/pyproject.toml:8" in out
    assert "packages/seam-exec-def/src/seam/exec_def/__init__.py:1" in out


def test_why_says_that_there_is_no_chain(house: House, run: Run) -> None:
    config = house.write() / "pyproject.toml"
    assert run("why", "seam-exec-tool", "seam-exec-local", "--config", config)[0] == 1
    code, _, err = run("why", "seam-exec-tool", "seam-nowhere", "--config", config)
    assert code == 2
    assert "seam-nowhere" in err


class Balanced(HTMLParser):
    """Counts what is opened and not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta", "path", "rect"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"path", "rect"}:
            assert self.open.pop() == tag


@pytest.mark.parametrize("form", ["mermaid", "dot", "svg", "html"])
def test_graph_draws_every_distribution_and_marks_what_is_unlawful(house: House, run: Run, form: str) -> None:
    house["seam-exec-tool"].files["seam/exec_tool/__init__.py"] += "import seam.exec_local\n"
    code, out, err = run("graph", house.write(), "--format", form)
    assert (code, err) == (0, "")
    assert all(name in out for name in house.members)
    assert out.count("#d1242f") == 1
    if form == "svg":
        ElementTree.fromstring(out)
    if form == "html":
        parser = Balanced()
        parser.feed(out)
        assert parser.open == []


def test_init_proposes_a_configuration_under_which_the_house_is_clean(house: House, run: Run) -> None:
    house.settings = ""
    root = house.write()
    code, out, _ = run("init", root, "--write")
    assert (code, out) == (0, f"wrote {root / 'seam-deplint.toml'}\n")
    code, out, _ = run("check", root)
    assert code == 0, out
    assert run("init", root, "--write")[0] == 2


def test_init_without_a_preset_proposes_family_namespaces_and_roles(run: Run, tmp_path: Path) -> None:
    house = House(tmp_path / "ours", settings="")
    for name in ("one", "two"):
        member = house.add(Member(f"acme-{name}", packed="src/acme"))
        member.files = {f"acme/{name}/__init__.py": "def p(): ...\n", f"acme/{name}/py.typed": ""}
    house["acme-two"].entry_points = {"acme.plugins": {"two": "acme.two:p"}}
    root = house.write()
    code, out, _ = run("init", root)
    assert code == 0
    assert 'family = ["acme-*"]' in out
    assert 'namespaces = ["acme"]' in out
    assert "[roles.acme-plugins]  # acme-two" in out
    assert run("init", root, "--write")[0] == 0
    code, out, _ = run("check", root)
    assert code == 0, out


def test_nothing_that_is_checked_is_imported_or_run(house: House, run: Run, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    bomb = f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n"
    for member in house.members.values():
        for path in member.files:
            if path.endswith(".py"):
                member.files[path] = bomb + member.files[path]
    root = house.write()
    (root / "packages/seam-exec-tool/setup.py").write_text(bomb, "utf-8")
    (root / "packages/seam-exec-tool/hatch_build.py").write_text(bomb, "utf-8")
    assert run("check", root)[0] == 0
    assert not mark.exists()


def test_the_pytest_plugin_adds_one_test_that_fails_with_the_report(
    house: House, pytester: pytest.Pytester
) -> None:
    house["seam-exec-tool"].files["seam/exec_tool/__init__.py"] += "import seam.exec_local\n"
    root = house.write()
    arguments = ["-p", "no:cacheprovider", "-p", "no:seam-testkit", f"--rootdir={root}", str(root)]
    result = pytester.runpytest_subprocess("--seam-deplint", *arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*error law-import*", "*seam-exec-tool (consumer) imports seam.exec_local*"])
    house["seam-exec-tool"].files["seam/exec_tool/__init__.py"] = "import seam.exec_def\ndef tool(): ...\n"
    house.write()
    pytester.runpytest_subprocess("--seam-deplint", *arguments).assert_outcomes(passed=1)
    pytester.runpytest_subprocess(*arguments).assert_outcomes()


def test_the_linter_runs_from_python_and_as_a_module(house: House, tmp_path: Path) -> None:
    report = check_tree(house.write())
    assert not report.failed
    assert report.distributions == 7
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(NotChecked):
        check_tree(empty)
    done = subprocess.run(
        [sys.executable, "-m", "seam.deplint", "check", str(house.root)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("clean: ")
