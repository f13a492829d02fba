"""The public faces are what they say."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import seam.deplint

PACKAGES = sorted(Path(seam.deplint.__file__).parent.rglob("__init__.py"))


@pytest.mark.parametrize("path", PACKAGES, ids=[path.parent.name for path in PACKAGES])
def test_a_package_exports_exactly_what_it_names_sorted(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    bound = [
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("seam.deplint")
        for alias in node.names
    ]
    named = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "__all__"
    )
    assert sorted(named) == sorted(bound)


def test_the_face_of_the_linter() -> None:
    assert seam.deplint.__all__ == [
        "ConfigurationError",
        "Finding",
        "NotChecked",
        "Place",
        "Report",
        "Severity",
        "check_tree",
    ]
