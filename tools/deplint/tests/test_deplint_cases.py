"""Failures of other linters, rewritten as inputs with the right behaviour; each name carries the id of its case."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from seam.deplint.testing import House, Member

Run = Callable[..., tuple[int, str, str]]

SETTINGS = """[tool.seam-deplint]
members = ["packages/*"]
family = ["ourns-*"]
namespaces = ["ourns"]
[tool.seam-deplint.roles.low]
names = ["ourns-b", "ourns-c", "ourns-cli"]
may-require = ["low"]
[tool.seam-deplint.roles.high]
names = ["ourns-a", "ourns-d"]
may-require = ["high"]
[tool.seam-deplint.severity]
py-typed-missing = "off"
"""
"""`ourns-a` must not use `ourns-b`; below `ourns` there is no `__init__.py`."""


@pytest.fixture
def ours(tmp_path: Path) -> House:
    """Two distributions of a pure namespace, `a` high and `b` low."""
    house = House(tmp_path / "ours", settings=SETTINGS)
    for name in ("a", "b"):
        add(house, name, f"ourns/{name}/__init__.py", "")
    return house


def add(house: House, name: str, path: str, source: str, *dependencies: str) -> Member:
    member = house.add(Member(f"ourns-{name}", list(dependencies), packed="src/ourns"))
    member.files[path] = source
    return member


def found(run: Run, root: Path, *arguments: str) -> list[tuple[str, str, str]]:
    _, out, err = run("check", root, "--format", "json", *arguments)
    assert err == ""
    return [(item["rule"], item["distribution"], item["subject"]) for item in json.loads(out)["findings"]]


def test_dl_001_modules_below_a_folder_without_init_are_checked(ours: House, run: Run) -> None:
    ours["ourns-a"].files["ourns/a/x/hidden.py"] = "import ourns.b\n"
    assert found(run, ours.write()) == [("law-import", "ourns-a", "ourns-b:RUN")]


def test_dl_003_a_pure_namespace_is_expanded_to_its_portions(ours: House, run: Run) -> None:
    code, out, _ = run("check", ours.write())
    assert code == 0
    assert "2 distributions, 2 modules" in out


def test_dl_003_no_module_at_all_is_an_error_with_a_sentence(ours: House, run: Run) -> None:
    for member in ours.members.values():
        member.files = {"ourns/notes.txt": ""}
    code, out, err = run("check", ours.write())
    assert (code, out) == (2, "")
    assert "have no Python modules" in err


def test_dl_004_a_distribution_of_one_module_file_is_checked(ours: House, run: Run) -> None:
    add(ours, "d", "ourns/single.py", "import ourns.b\n")
    code, out, _ = run("check", ours.write())
    assert code == 1
    assert "packages/ourns-d/src/ourns/single.py:1: error law-import" in out


def test_dl_007_constant_strings_count_and_computed_ones_are_listed(ours: House, run: Run) -> None:
    ours["ourns-a"].files["ourns/a/dynamic.py"] = (
        "import importlib\nfrom importlib import import_module\nx = 'b'\n"
        "importlib.import_module('ourns.%s' % x)\n__import__('ourns.b')\n"
        "importlib.import_module('ourns.b')\nimport_module('.b', 'ourns')\n"
    )
    _, out, _ = run("check", ours.write(), "--format", "json")
    findings = {item["rule"]: item for item in json.loads(out)["findings"]}
    assert set(findings) == {"law-import", "import-unverifiable"}
    law = findings["law-import"]
    assert [law["line"], *(place["line"] for place in law["also_at"])] == [5, 6, 7]
    assert findings["import-unverifiable"]["line"] == 4
    assert findings["import-unverifiable"]["severity"] == "warning"


def test_dl_008_a_sibling_of_the_namespace_does_not_satisfy_another_ones_import(
    ours: House, run: Run
) -> None:
    add(ours, "c", "ourns/c/__init__.py", "import ourns.b\nimport ourns.cli\n", "ourns-b")
    add(ours, "cli", "ourns/cli/__init__.py", "")
    assert found(run, ours.write()) == [("requirement-undeclared", "ourns-c", "ourns-cli:RUN")]


def test_dl_009_an_unused_requirement_is_found_beside_a_used_sibling(ours: House, run: Run) -> None:
    add(ours, "c", "ourns/c/__init__.py", "import ourns.b\n", "ourns-b", "ourns-cli")
    add(ours, "cli", "ourns/cli/__init__.py", "")
    assert found(run, ours.write()) == [("requirement-unused", "ourns-c", "ourns-cli")]


def test_dl_010_a_module_name_is_not_guessed_from_a_distribution_name(ours: House, run: Run) -> None:
    ours["ourns-a"].extras["fast"] = ["foo-python"]
    ours["ourns-a"].files["ourns/a/fast.py"] = "import foo\n"
    assert found(run, ours.write()) == [("requirement-unverified", "ourns-a", "foo-python")]


def test_dl_010_a_mapping_in_the_configuration_settles_it(ours: House, run: Run) -> None:
    ours["ourns-a"].extras["fast"] = ["foo-python"]
    ours["ourns-a"].files["ourns/a/fast.py"] = "import foo\n"
    ours.settings += '[tool.seam-deplint.modules]\nfoo = "foo-python"\n'
    assert found(run, ours.write()) == []


def test_dl_012_an_own_submodule_that_is_missing_is_no_foreign_requirement(ours: House, run: Run) -> None:
    ours["ourns-a"].files["ourns/a/x.py"] = "from ourns.a.missing import y\n"
    assert found(run, ours.write()) == []


def test_dl_013_an_unused_requirement_is_found_without_any_import(ours: House, run: Run) -> None:
    add(ours, "c", "ourns/c/__init__.py", "", "ourns-b")
    assert found(run, ours.write()) == [("requirement-unused", "ourns-c", "ourns-b")]


def test_dl_014_a_module_named_like_one_of_the_standard_library_stays_local(ours: House, run: Run) -> None:
    ours["ourns-a"].files["ourns/a/typing.py"] = "import ourns.b\n"
    ours["ourns-a"].files["ourns/a/u.py"] = "import typing\nfrom . import typing as t\n"
    assert found(run, ours.write()) == [("law-import", "ourns-a", "ourns-b:RUN")]
    code, out, _ = run("why", "ourns-a", "ourns-b", "--config", ours.root / "pyproject.toml")
    assert code == 0
    assert "u.py" not in out


def test_dl_016_names_match_from_the_root_and_at_dots_only(ours: House, run: Run) -> None:
    add(ours, "cli", "ourns/cli/__init__.py", "")
    ours["ourns-a"].files["ourns/a/x.py"] = "from vendor.ourns.cli import x\nimport ourns_extra.b\n"
    ours["ourns-a"].files["ourns/a/y.py"] = "import ourns.clint\n"
    rules = [(rule, subject) for rule, _, subject in found(run, ours.write())]
    assert rules == [
        ("requirement-undeclared", "module:vendor"),
        ("requirement-undeclared", "module:ourns_extra"),
        ("import-unowned", "ourns.clint"),
    ]
