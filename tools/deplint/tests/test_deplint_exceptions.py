"""Ignores, waivers and the baseline: each needs its reason, and one that nothing needs is a finding."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from seam.deplint.testing import House

Run = Callable[..., tuple[int, str, str]]
TOOL = "seam/exec_tool/__init__.py"


def test_an_ignore_with_a_reason_lets_its_finding_pass(house: House, run: Run) -> None:
    house["seam-exec-tool"].files[TOOL] += "import seam.exec_local\n"
    house.settings += '[[tool.seam-deplint.ignore]]\nrule = "law-import"\ndistribution = "seam-exec-tool"\nreason = "until the split"\n'
    code, out, _ = run("check", house.write())
    assert code == 0
    assert "1 ignored" in out


def test_an_ignore_without_a_reason_is_refused(house: House, run: Run) -> None:
    house.settings += '[[tool.seam-deplint.ignore]]\nrule = "law-import"\n'
    code, out, err = run("check", house.write())
    assert (code, out) == (2, "")
    assert "tool.seam-deplint.ignore[0].reason is missing" in err


def test_an_ignore_that_nothing_needs_fails(house: House, run: Run) -> None:
    house.settings += '[[tool.seam-deplint.ignore]]\nrule = "law-import"\nreason = "was needed once"\n'
    code, out, _ = run("check", house.write())
    assert code == 1
    assert "error ignore-unused" in out
    assert "remove tool.seam-deplint.ignore[0]" in out


def test_a_waiver_speaks_for_its_line_alone(house: House, run: Run) -> None:
    house["seam-exec-tool"].files[TOOL] += (
        "import seam.exec_local  # deplint: ignore[law-import] until the split\n"
    )
    assert run("check", house.write())[0] == 0
    house["seam-exec-tool"].files[TOOL] += "from seam.exec_local import local\n"
    code, out, _ = run("check", house.write())
    assert code == 1
    assert "error law-import" in out


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# deplint: ignore[law-import] no fault here", "lets nothing pass"),
        ("# deplint: ignore[law-import]", "gives no reason"),
    ],
)
def test_a_waiver_that_is_not_needed_or_gives_no_reason_fails(
    house: House, run: Run, comment: str, said: str
) -> None:
    house["seam-exec-tool"].files[TOOL] += f"X = 1  {comment}\n"
    code, out, _ = run("check", house.write())
    assert code == 1
    assert f"the waiver of law-import {said}" in out


def test_a_baseline_is_created_once_only_shrinks_and_fails_when_stale(house: House, run: Run) -> None:
    house.settings = house.settings.replace("preset", 'baseline = "known.json"\npreset')
    house["seam-exec-tool"].files[TOOL] += "import seam.exec_local\n"
    root = house.write()
    assert run("check", root)[0] == 2  # configured and not there: never green by accident
    assert run("baseline", "--create", root)[0] == 0
    assert run("check", root)[0] == 0

    code, _, err = run("baseline", "--create", root)
    assert code == 2
    assert "a baseline only shrinks" in err

    house["seam-watch-tool"].files["seam/watch_tool/__init__.py"] += "import seam.exec_local\n"
    house.write()
    assert run("baseline", root)[0] == 0
    assert len(json.loads((root / "known.json").read_text("utf-8"))["findings"]) == 1
    assert run("check", root)[0] == 1  # the new fault did not slip in

    for name in ("exec", "watch"):
        member = house[f"seam-{name}-tool"]
        path = f"seam/{name}_tool/__init__.py"
        member.files[path] = member.files[path].replace("import seam.exec_local\n", "")
    house.write()
    code, out, _ = run("check", root)
    assert code == 1
    assert "error baseline-stale" in out
    assert run("baseline", root)[0] == 0
    assert run("check", root)[0] == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('presett = "seam"', "tool.seam-deplint.presett: unknown key"),
        ('preset = "sea"', "no preset 'sea'"),
        ("members = [1]", "tool.seam-deplint.members[0] must be a string, not an integer"),
        ('fail-on = "never"', "tool.seam-deplint.fail-on must be one of"),
        ('[tool.seam-deplint.severity]\nlaw-imports = "off"', "no rule 'law-imports'"),
        ('[tool.seam-deplint.roles.tool]\nmay-require = ["everything"]', "no role 'everything'"),
        ("roles = 1", "tool.seam-deplint.roles must be a table"),
        ("members = [", "cannot be read"),
    ],
)
def test_a_configuration_that_is_wrong_is_refused_with_its_place(
    house: House, run: Run, line: str, said: str
) -> None:
    house.settings = f"[tool.seam-deplint]\n{line}\n"
    code, out, err = run("check", house.write())
    assert (code, out) == (2, "")
    assert said in err


def test_a_members_pattern_that_matches_nothing_is_a_finding(house: House, run: Run) -> None:
    house.settings = house.settings.replace('["packages/*"]', '["packages/*", "libs/*"]')
    code, out, _ = run("check", house.write())
    assert code == 1
    assert "error rule-idle" in out


def test_a_role_that_no_distribution_has_is_a_finding(house: House, run: Run) -> None:
    house.settings += '[tool.seam-deplint.roles.tool]\npaths = ["tools/*"]\n'
    code, out, _ = run("check", house.write())
    assert code == 1
    assert "role 'tool'" in out
