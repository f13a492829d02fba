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
