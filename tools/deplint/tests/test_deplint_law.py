"""The law on source trees: each planted fault gives its one finding and nothing beside it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from seam.deplint.testing import House

Run = Callable[..., tuple[int, str, str]]


def test_a_lawful_house_is_clean(house: House, run: Run) -> None:
    code, out, err = run("check", house.write())
    assert (code, err) == (0, "")
    assert out.startswith("clean: 7 distributions, 7 modules")


@pytest.mark.parametrize(
    ("source", "note"),
    [
        ("import seam.exec_local\n", ""),
        ("from seam import exec_local\n", ""),
        ("from seam.exec_local import local\n", ""),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import seam.exec_local\n",
            "(type checking)",
        ),
        ("def f():\n    import seam.exec_local\n", "(in a function)"),
        ("try:\n    import seam.exec_local\nexcept ImportError:\n    pass\n", "(guarded by try)"),
        ("import importlib\nimportlib.import_module('seam.exec_local')\n", "(by constant string)"),
        ("X = __import__('seam.exec_local')\n", "(by constant string)"),
    ],
)
def test_a_consumer_that_imports_an_implementer_is_found_once(
    house: House, run: Run, source: str, note: str
) -> None:
    house["seam-exec-tool"].files["seam/exec_tool/__init__.py"] += source
    code, out, _ = run("check", house.write())
    assert code == 1
    assert "findings: 1 error in 7 distributions" in out
    assert "packages/seam-exec-tool/src/seam/exec_tool/__init__.py:" in out
    assert "error law-import" in out
    assert f"{note} of seam-exec-local (implementer)".strip() in out
    assert "way out: depend on seam-exec-def, which defines the key 'exec'" in out


@pytest.mark.parametrize(("where", "rule"), [("dependencies", "law-requirement"), ("extra", "law-extra")])
def test_a_consumer_that_requires_an_implementer_is_found_once(
    house: House, run: Run, where: str, rule: str
) -> None:
    member = house["seam-exec-tool"]
    if where == "extra":
        member.extras["fast"] = ["seam-exec-local>=0.1,<1"]
    else:
        member.dependencies.append("seam-exec-local>=0.1,<1")
    code, out, _ = run("check", house.write())
    assert code == 1
    assert f"error {rule}" in out
    assert "findings: 1 error in" in out
    assert "packages/seam-exec-tool/pyproject.toml:" in out


def test_nothing_checked_is_not_green(run: Run, tmp_path: object) -> None:
    code, out, err = run("check", tmp_path)
    assert code == 2
    assert out == ""
    assert "nothing to check" in err
