"""The planted-violations corpus: one finding for each planted fault, and none beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from seam.deplint.testing import FAULTS, Fault, House, install, record, wheel_files, write_wheel, write_wheels

Run = Callable[..., tuple[int, str, str]]


def findings(run: Run, *arguments: object) -> list[tuple[str, str]]:
    """Rule and distribution of every finding that is no advice."""
    _, out, err = run("check", "--format", "json", *arguments)
    assert err == ""
    found = json.loads(out)["findings"]
    return [(item["rule"], item["distribution"]) for item in found if item["severity"] != "advice"]


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_each_fault_in_a_source_tree_is_found_once(house: House, run: Run, fault: Fault) -> None:
    fault.plant(house)
    assert findings(run, house.write()) == [(fault.rule, fault.distribution)]


def test_wheels_of_a_lawful_house_are_clean(house: House, run: Run, tmp_path: Path) -> None:
    house.write()
    assert findings(run, house.root, write_wheels(house, tmp_path / "dist")) == []
    assert findings(run, "--config", house.root / "pyproject.toml", tmp_path / "dist") == []


def test_an_environment_of_a_lawful_house_is_clean(house: House, run: Run, tmp_path: Path) -> None:
    house.write()
    prefix = install(house, tmp_path / "env", python="3.13")
    assert findings(run, "--python", prefix, house.root) == []
    only = ("--config", house.root / "pyproject.toml", "--only-python", "--imports")
    assert findings(run, "--python", prefix, *only) == []


IN_WHEELS = (
    "wrong top level",
    "stray namespace __init__",
    "no py.typed",
    "consumer requires implementer in an extra",
    "consumer imports implementer",
    "consumer requires implementer",
    "entry point to no module",
    "missing role",
)


@pytest.mark.parametrize("name", IN_WHEELS)
def test_each_fault_in_wheels_is_found_once(house: House, run: Run, tmp_path: Path, name: str) -> None:
    fault = next(fault for fault in FAULTS if fault.name == name)
    house.write()
    fault.plant(house)
    if name == "wrong top level":
        member = house["seam-watch-tool"]
        member.files = {path.removeprefix("seam/"): text for path, text in member.files.items()}
    found = findings(run, "--config", house.root / "pyproject.toml", write_wheels(house, tmp_path / "dist"))
    assert found == [(fault.rule, fault.distribution)]


def test_a_wheel_alone_is_judged_by_what_names_tell(house: House, run: Run, tmp_path: Path) -> None:
    house.write()
    house["seam-exec-tool"].dependencies.append("seam-host>=0.1,<1")
    wheel = write_wheel(house["seam-exec-tool"], tmp_path / "dist")
    assert findings(run, "--config", house.root / "pyproject.toml", wheel) == [
        ("law-requirement", "seam-exec-tool")
    ]


def test_a_file_that_record_does_not_list_is_found(house: House, run: Run, tmp_path: Path) -> None:
    files = wheel_files(house["seam-exec-tool"])
    info = next(name for name in files if ".dist-info/" in name).partition("/")[0]
    rows = record(files, info)
    files["seam/exec_tool/_smuggled.py"] = ""
    wheel = write_wheel(house["seam-exec-tool"], tmp_path / "dist", files=files, rows=rows)
    config = house.write() / "pyproject.toml"
    assert findings(run, "--config", config, wheel) == [("record-mismatch", "seam-exec-tool")]


def test_a_digest_that_is_wrong_is_found(house: House, run: Run, tmp_path: Path) -> None:
    files = wheel_files(house["seam-exec-tool"])
    info = next(name for name in files if ".dist-info/" in name).partition("/")[0]
    rows = record(files, info)
    files["seam/exec_tool/__init__.py"] += "\n"
    wheel = write_wheel(house["seam-exec-tool"], tmp_path / "dist", files=files, rows=rows)
    config = house.write() / "pyproject.toml"
    assert findings(run, "--config", config, wheel) == [("record-mismatch", "seam-exec-tool")]


def test_a_path_that_leaves_the_archive_is_found(house: House, run: Run, tmp_path: Path) -> None:
    files = wheel_files(house["seam-exec-tool"]) | {"../../evil.py": "print('out')\n"}
    wheel = write_wheel(house["seam-exec-tool"], tmp_path / "dist", files=files)
    config = house.write() / "pyproject.toml"
    assert findings(run, "--config", config, wheel) == [("archive-unsafe", "seam-exec-tool")]
    assert not (tmp_path / "evil.py").exists()


def test_a_stale_wheel_is_found(house: House, run: Run, tmp_path: Path) -> None:
    house.write()
    house["seam-exec-tool"].files["seam/exec_tool/_old.py"] = ""
    write_wheels(house, tmp_path / "dist")
    assert findings(run, house.root, tmp_path / "dist") == [("drift", "seam-exec-tool")]


def test_stale_installed_metadata_is_found(house: House, run: Run, tmp_path: Path) -> None:
    prefix = install(house, tmp_path / "env")
    house["seam-exec-tool"].extras["fast"] = ["psutil"]
    house.write()
    assert findings(run, "--python", prefix, house.root) == [("drift", "seam-exec-tool")]


def test_a_file_that_nobody_owns_in_an_environment_is_found(house: House, run: Run, tmp_path: Path) -> None:
    house.write()
    prefix = install(house, tmp_path / "env")
    lost = prefix / "lib/python3.11/site-packages/seam/left_behind.py"
    lost.write_text("", "utf-8")
    assert findings(run, "--python", prefix, house.root) == [("module-unowned", "")]


def test_ep_011_a_stray_namespace_init_is_rejected_in_source_wheel_and_environment(
    house: House, run: Run, tmp_path: Path
) -> None:
    house["seam-exec-local"].files["seam/__init__.py"] = ""
    expected = [("namespace-init", "seam-exec-local")]
    config = house.write() / "pyproject.toml"
    assert findings(run, house.root) == expected
    assert findings(run, "--config", config, write_wheels(house, tmp_path / "dist")) == expected
    prefix = install(house, tmp_path / "env")
    assert findings(run, "--config", config, "--python", prefix, "--only-python") == expected


def test_a_foreign_owner_of_the_namespace_is_named(house: House, run: Run, tmp_path: Path) -> None:
    config = house.write() / "pyproject.toml"
    prefix = install(house, tmp_path / "env")
    stranger = House(tmp_path / "stranger")
    stranger.members["seam"] = type(house["seam-kernel"])(
        "seam", files={"seam/__init__.py": "", "seam/client.py": ""}
    )
    install(stranger, prefix)
    found = findings(run, "--config", config, "--python", prefix, "--only-python")
    assert found == [("namespace-foreign", "seam")]


def test_what_an_environment_knows_settles_foreign_requirements(
    house: House, run: Run, tmp_path: Path
) -> None:
    tool = house["seam-exec-tool"]
    tool.dependencies += ["pyyaml>=6", "psutil>=6"]
    tool.files["seam/exec_tool/__init__.py"] += "import yaml\nimport attr\n"
    root = house.write()
    stranger = House(tmp_path / "stranger")
    for name, path in (
        ("pyyaml", "yaml/__init__.py"),
        ("psutil", "psutil/__init__.py"),
        ("attrs", "attr/__init__.py"),
    ):
        stranger.members[name] = type(tool)(name, files={path: ""}, version="9.0")
    prefix = install(stranger, install(house, tmp_path / "env"))
    assert findings(run, "--python", prefix, root) == [
        ("foreign-unused", "seam-exec-tool"),
        ("requirement-undeclared", "seam-exec-tool"),
    ]


DEPLOYMENT = """[implement.exec]
use = "local"
[consume.exec-tool]
[consume.second]
use = "watch-tool"
[agents.reviewer.implement.exec]
use = "remote"
distribution = "seam-exec-remote"
"""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            'use = "local"',
            'use = "locl"',
            "[implement.exec] asks for 'locl', which nothing at hand registers",
        ),
        (
            'implement.exec]\nuse = "local"',
            'implement.shell]\nuse = "local"',
            "[implement.shell] names the key 'shell'",
        ),
        ("[consume.exec-tool]", "[consume.exec-tol]", "[consume.exec-tol] asks for 'exec-tol'"),
        (
            '"seam-exec-remote"',
            '"seam-exec-local"',
            "asks seam-exec-local for 'remote', which it does not register",
        ),
    ],
)
def test_a_row_of_a_deployment_without_its_provider_is_found(
    house: House, run: Run, tmp_path: Path, before: str, after: str, said: str
) -> None:
    root = house.write()
    path = tmp_path / "prod.toml"
    path.write_text(DEPLOYMENT, "utf-8")
    assert findings(run, root, path) == []
    assert before in DEPLOYMENT
    path.write_text(DEPLOYMENT.replace(before, after, 1), "utf-8")
    code, out, _ = run("check", root, path)
    assert code == 1
    assert "findings: 1 error" in out
    assert said in out


def test_layers_of_a_deployment_are_merged_and_broken_ones_named(
    house: House, run: Run, tmp_path: Path
) -> None:
    root = house.write()
    (tmp_path / "base.toml").write_text('[implement.exec]\nuse = "nowhere"\n', "utf-8")
    top = tmp_path / "prod.toml"
    top.write_text('[seam]\nextends = ["base.toml"]\n[implement.exec]\nuse = "remote"\n', "utf-8")
    assert findings(run, root, top) == []
    (tmp_path / "base.toml").write_text('[seam]\nextends = ["prod.toml"]\n', "utf-8")
    assert findings(run, root, top) == [("deployment-broken", "")]
    (tmp_path / "base.toml").write_text("[implement", "utf-8")
    assert findings(run, root, top) == [("deployment-broken", "")]


def test_a_fault_in_the_source_is_not_told_again_by_its_wheel(house: House, run: Run, tmp_path: Path) -> None:
    house["seam-exec-tool"].files["seam/exec_tool/__init__.py"] += "import seam.exec_local\n"
    root = house.write()
    assert findings(run, root, write_wheels(house, tmp_path / "dist")) == [("law-import", "seam-exec-tool")]


def test_a_deployment_alone_is_checked_against_the_tree_of_the_configuration(
    house: House, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(house.write())
    (tmp_path / "prod.toml").write_text(DEPLOYMENT, "utf-8")
    assert findings(run, tmp_path / "prod.toml") == []


@pytest.mark.parametrize("declared", [True, False])
def test_an_extension_is_lawful_in_source_wheel_and_environment_when_declared(
    house: House, run: Run, tmp_path: Path, declared: bool
) -> None:
    member = house["seam-exec-remote"]
    member.dependencies.append("seam-exec-local>=0.1,<1")
    member.files["seam/exec_remote/__init__.py"] += "import seam.exec_local\n"
    if declared:
        member.extra_toml = '[tool.seam]\nextends = ["seam-exec-local"]\n'
        member.entry_points["seam.extends"] = {"seam-exec-local": "seam.exec_local"}
    config = house.write() / "pyproject.toml"
    lawless = (
        [] if declared else [("law-requirement", "seam-exec-remote"), ("law-import", "seam-exec-remote")]
    )
    assert sorted(findings(run, house.root)) == sorted(lawless)
    assert sorted(findings(run, "--config", config, write_wheels(house, tmp_path / "dist"))) == sorted(
        lawless
    )
    prefix = install(house, tmp_path / "env")
    assert findings(run, "--config", config, "--python", prefix, "--only-python") == lawless[:1]


def test_a_folded_package_carries_its_reason_into_the_wheel(house: House, run: Run, tmp_path: Path) -> None:
    member = house["seam-watch-tool"]
    member.entry_points["seam.definition"] = {"watch": "seam.watch_tool:tool"}
    member.name = "seam-watch-def"
    house.members["seam-watch-def"] = house.members.pop("seam-watch-tool")
    member.files = {
        "seam/watch_def/__init__.py": "from seam.exec_def import ShellExecutor\ndef tool(): ...\n"
    }
    member.files["seam/watch_def/py.typed"] = ""
    member.entry_points = {
        "seam.consumer": {"watch": "seam.watch_def:tool"},
        "seam.definition": {"watch": "seam.watch_def:tool"},
        "seam.folded": {"one of each": "seam.watch_def"},
    }
    member.extra_toml = '[tool.seam]\nfolded = "one of each"\n'
    config = house.write() / "pyproject.toml"
    assert findings(run, house.root) == []
    assert findings(run, "--config", config, write_wheels(house, tmp_path / "dist")) == []
    member.extra_toml = '[tool.seam]\nfolded = "another reason"\n'
    assert findings(run, house.write()) == [("declaration-hidden", "seam-watch-def")]
