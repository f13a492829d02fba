"""`seam/__init__.py` on the path: who ships it, and what it hides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from host_distributions import install

from seam.host._namespace import intrusions


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a distribution of the namespace, as a wheel installs it."""
    install(tmp_path, "seam-kernel", "0.1", modules={"seam/kernel/__init__.py": ""})
    return tmp_path


def ship_init(folder: Path, name: str, version: str) -> None:
    info = install(folder, name, version, modules={"seam/__init__.py": ""})
    (info / "RECORD").write_text(f"seam/__init__.py,,\n{info.name}/METADATA,,\n")


def test_a_namespace_that_is_shared_has_no_intruder(site: Path) -> None:
    assert intrusions([str(site)]) == []


def test_ep_011_the_other_project_of_that_name_is_named_with_what_to_do(site: Path) -> None:
    ship_init(site, "seam", "4.2.0")
    (found,) = intrusions([str(site)])
    assert (found.owner, found.unrelated, found.hidden) == ("seam 4.2.0", True, ())
    assert "seam 4.2.0 ships" in found.text
    assert "pip uninstall seam" in found.remedy


def test_ep_011_editable_installs_that_it_hides_are_named(site: Path) -> None:
    ship_init(site, "seam", "4.2.0")
    info = install(site, "seam-exec-def", "0.1")
    origin = {"url": "file:///src/seam-exec-def", "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(origin))
    (found,) = intrusions([str(site)])
    assert found.hidden == ("seam-exec-def",)
    assert "cannot be imported: seam-exec-def" in found.text
    assert "from wheels" in found.remedy


def test_ep_011_a_sibling_that_ships_the_file_is_named(site: Path) -> None:
    ship_init(site, "seam-acme-def", "1.0")
    (found,) = intrusions([str(site)])
    assert (found.owner, found.unrelated) == ("seam-acme-def 1.0", False)
    assert "author of seam-acme-def" in found.remedy


def test_ep_011_a_stray_file_that_nobody_ships_is_named_by_its_path(site: Path) -> None:
    (site / "seam" / "__init__.py").touch()
    (found,) = intrusions([str(site)])
    assert found.owner is None
    assert str(site / "seam" / "__init__.py") in found.text
    assert found.remedy.startswith("remove the file")
