"""The outputs for programs, the exit codes, and ids that survive moved lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import cast

import jsonschema
import pytest

from seam.deplint.testing import FAULTS, House

Run = Callable[..., tuple[int, str, str]]

SCHEMA = Path(__file__).parent / "sarif-schema-2.1.0.json"
"""OASIS SARIF 2.1.0 errata 01, as published."""


def damaged(house: House) -> Path:
    """A house with several faults, one of them ignored."""
    for fault in FAULTS:
        if fault.name in {"consumer imports implementer", "unused sibling requirement", "unowned file"}:
            fault.plant(house)
    house.settings += '[[tool.seam-deplint.ignore]]\nrule = "module-unowned"\nreason = "kept for a while"\n'
    return house.write()


def test_sarif_is_valid_against_the_schema_and_points_at_lines(house: House, run: Run) -> None:
    code, out, _ = run("check", damaged(house), "--format", "sarif")
    content = json.loads(out)
    jsonschema.Draft4Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(content)  # pyright: ignore[reportUnknownMemberType]
    results = content["runs"][0]["results"]
    assert code == 1
    assert [(item["ruleId"], "suppressions" in item) for item in results] == [
        ("requirement-unused", False),
        ("law-import", False),
        ("module-unowned", True),
    ]
    place = results[1]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "packages/seam-exec-tool/src/seam/exec_tool/__init__.py"
    assert place["region"]["startLine"] == 3


def test_the_schema_refuses_what_is_not_sarif(house: House, run: Run) -> None:
    _, out, _ = run("check", damaged(house), "--format", "sarif")
    content = json.loads(out)
    del content["runs"][0]["results"][0]["message"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(content)  # pyright: ignore[reportUnknownMemberType]


def test_github_annotations_escape_what_would_break_them(house: House, run: Run) -> None:
    code, out, _ = run("check", damaged(house), "--format", "github")
    lines = out.splitlines()
    assert code == 1
    assert lines[1].startswith(
        "::error file=packages/seam-exec-tool/src/seam/exec_tool/__init__.py,line=3,title=law-import ("
    )
    assert lines[-1] == "seam-deplint: 2 findings in 7 distributions"


def ids(run: Run, root: Path) -> dict[str, str]:
    _, out, _ = run("check", root, "--format", "json")
    findings = cast("list[dict[str, str]]", json.loads(out)["findings"])
    return {item["rule"]: item["id"] for item in findings}


def test_ids_survive_moved_lines_and_another_checkout(house: House, run: Run, tmp_path: Path) -> None:
    before = ids(run, damaged(house))
    house["seam-exec-tool"].files["seam/exec_tool/__init__.py"] = (
        "# moved\n\n" + house["seam-exec-tool"].files["seam/exec_tool/__init__.py"]
    )
    house.root = tmp_path / "elsewhere"
    assert ids(run, house.write()) == before


def test_output_goes_to_a_file_and_people_still_read_the_text(house: House, run: Run, tmp_path: Path) -> None:
    target = tmp_path / "report.sarif"
    code, out, _ = run("check", damaged(house), "--format", "sarif", "--output", target)
    assert code == 1
    assert json.loads(target.read_text("utf-8"))["version"] == "2.1.0"
    assert "findings: 2 errors" in out


def test_colour_is_asked_for(house: House, run: Run) -> None:
    root = damaged(house)
    assert "\x1b[" in run("check", root, "--color", "always")[1]
    assert "\x1b[" not in run("check", root)[1]


def test_warnings_fail_only_where_the_configuration_says_so(house: House, run: Run) -> None:
    house["seam-exec-tool"].files["seam/exec_tool/_late.py"] = (
        "import importlib\nX = importlib.import_module(__name__)\n"
    )
    assert run("check", house.write())[0] == 0
    house.settings = house.settings.replace("preset", 'fail-on = "warning"\npreset')
    assert run("check", house.write())[0] == 1


def test_severity_is_configured_by_rule(house: House, run: Run) -> None:
    root = damaged(house)
    with (root / "pyproject.toml").open("a") as file:
        file.write('[tool.seam-deplint.severity]\nlaw-import = "warning"\nrequirement-unused = "off"\n')
    code, out, _ = run("check", root)
    assert code == 0
    assert "passed: 1 warning in" in out
