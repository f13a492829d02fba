"""Where environments are found, and that nothing of them runs."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from seam.deplint.built import NoEnvironment, site_folders
from seam.deplint.testing import House, install


def test_a_system_interpreter_is_asked_for_its_folders() -> None:
    interpreter = Path(os.path.realpath(sys.executable))
    base = Path(sys.base_prefix)
    expected = Path(sysconfig.get_path("purelib", vars={"base": str(base), "installed_base": str(base)}))
    assert expected in site_folders(interpreter)


@pytest.mark.parametrize("part", ["", "bin/python", "lib/python3.13/site-packages"])
def test_a_virtual_environment_of_another_version_is_read_from_disk(
    house: House, tmp_path: Path, part: str
) -> None:
    prefix = install(house, tmp_path / "env", python="3.13")
    (prefix / "bin").mkdir()
    (prefix / "bin/python").write_text("#!/bin/sh\nexit 1\n", "utf-8")  # would fail if it were run
    assert site_folders(prefix / part) == [prefix / "lib/python3.13/site-packages"]


def test_a_real_virtual_environment_is_found_and_its_pth_files_do_not_run(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    folders = site_folders(tmp_path / "env/bin/python")
    mark = tmp_path / "ran"
    (folders[0] / "bomb.pth").write_text(f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n", "utf-8")
    assert site_folders(tmp_path / "env/bin/python") == folders
    assert not mark.exists()


def test_a_program_that_is_no_interpreter_is_an_error() -> None:
    with pytest.raises(NoEnvironment, match="does not answer as a Python interpreter"):
        site_folders(Path("/bin/true"))


def test_an_editable_install_owns_the_modules_below_its_folder(house: House, tmp_path: Path) -> None:
    from seam.deplint.built import EnvironmentOptions, read_environment
    from seam.deplint.sources import ScanCache

    root = house.write()
    prefix = install(House(tmp_path / "none"), tmp_path / "env")
    site = prefix / "lib/python3.11/site-packages"
    info = site / "seam_exec_tool-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: seam-exec-tool\nVersion: 0.1.0\n\n", "utf-8")
    (info / "RECORD").write_text("_editable_seam_exec_tool.pth,,\n", "utf-8")
    (site / "_editable_seam_exec_tool.pth").write_text(f"{root / 'packages/seam-exec-tool/src'}\n", "utf-8")
    options = EnvironmentOptions(lambda item: True)
    found = read_environment([site], options, ScanCache(None, frozenset()))
    assert found.problems == []
    assert [(item.name, item.editable, sorted(item.modules)) for item in found.distributions] == [
        ("seam-exec-tool", True, ["seam.exec_tool"])
    ]
